//! Makes the page in one file of the page in a folder: `one_file DIR` reads `DIR/index.html` and writes `DIR/fullpipe.html`.
//!
//! Browsers let a page from a disk read no other file. So its style sheets become elements, its modules `data:` addresses that an
//! import map names, and its worker and the module in WebAssembly elements that `web/parts.js` looks for.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;

type Failed = Box<dyn Error>;

fn main() -> Result<(), Failed> {
    let directory = std::env::args_os().nth(1).ok_or("give a directory")?;
    let page = Page {
        directory: directory.into(),
    };
    fs::write(page.directory.join("fullpipe.html"), page.one_file()?)?;
    Ok(())
}

struct Page {
    directory: PathBuf,
}

impl Page {
    fn one_file(&self) -> Result<String, Failed> {
        let html = self.read(Path::new("index.html"))?;
        let html = replaced(&html, "<link rel=\"stylesheet\" href=\"", ">", |href| {
            Ok(format!("<style>\n{}</style>", self.read(Path::new(href))?))
        })?;
        let mut modules = BTreeMap::new();
        let html = replaced(
            &html,
            "<script type=\"module\" src=\"",
            "</script>",
            |src| {
                let src = relative(Path::new(""), src);
                self.add(&src, &mut modules)?;
                Ok(format!(
                    "<script type=\"module\">import \"{}\";</script>",
                    name(&src)
                ))
            },
        )?;
        let imports: BTreeMap<_, _> = modules
            .iter()
            .map(|(file, text)| (name(file), address(text)))
            .collect();
        let element = |id: &str, text: &str| {
            format!("<script type=\"text/plain\" id=\"{id}\">{text}</script>\n")
        };
        let inserted = [
            element("fullpipe-module", &self.module()?),
            element(
                "fullpipe-worker",
                &address(&self.nested(Path::new("worker.js"))?),
            ),
            format!(
                "<script type=\"importmap\">{}</script>\n",
                serde_json::json!({ "imports": imports })
            ),
        ];
        let at = html.find("<script").ok_or("index.html has no script")?;
        let html = format!("{}{}{}", &html[..at], inserted.concat(), &html[at..]);
        // What the folder has as files is here inline.
        Ok(html
            .replace("script-src 'self'", "script-src 'unsafe-inline'")
            .replace("style-src 'self'", "style-src 'unsafe-inline'"))
    }

    fn read(&self, file: &Path) -> Result<String, Failed> {
        let read = fs::read_to_string(self.directory.join(file));
        read.map_err(|error| format!("{}: {error}", file.display()).into())
    }

    /// The module in WebAssembly, compressed.
    fn module(&self) -> Result<String, Failed> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&fs::read(self.directory.join("play.wasm"))?)?;
        Ok(BASE64.encode(&encoder.finish()?))
    }

    /// Adds a script, and all that it imports, with the imports by name.
    fn add(&self, file: &Path, modules: &mut BTreeMap<PathBuf, String>) -> Result<(), Failed> {
        if modules.contains_key(file) {
            return Ok(());
        }
        modules.insert(file.to_owned(), String::new());
        let text = self.imported(file, |other| {
            self.add(other, modules)?;
            Ok(name(other))
        })?;
        modules.insert(file.to_owned(), text);
        Ok(())
    }

    /// A script with all that it imports inside it: a worker has no import map.
    fn nested(&self, file: &Path) -> Result<String, Failed> {
        self.imported(file, |other| Ok(address(&self.nested(other)?)))
    }

    /// A script with other names for what it imports.
    fn imported(
        &self,
        file: &Path,
        mut named: impl FnMut(&Path) -> Result<String, Failed>,
    ) -> Result<String, Failed> {
        let directory = file.parent().unwrap_or(Path::new(""));
        let mut text = self.read(file)?;
        for before in ["from \"", "import \"", "import(\""] {
            for folder in ["./", "../"] {
                text = replaced(&text, &format!("{before}{folder}"), "\"", |rest| {
                    let other = relative(directory, &format!("{folder}{rest}"));
                    Ok(format!("{before}{}\"", named(&other)?))
                })?;
            }
        }
        Ok(text)
    }
}

/// Replaces each part of the text from `start` to `end`, given what is in quotation marks behind `start`.
fn replaced(
    text: &str,
    start: &str,
    end: &str,
    mut replacement: impl FnMut(&str) -> Result<String, Failed>,
) -> Result<String, Failed> {
    let mut parts = text.split(start);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (quoted, _) = part.split_once('"').ok_or("a quotation mark is missing")?;
        let (_, rest) = part
            .split_once(end)
            .ok_or_else(|| format!("{end} is missing"))?;
        result += &replacement(quoted)?;
        result += rest;
    }
    Ok(result)
}

/// The path of what a file in `directory` calls `path`.
fn relative(directory: &Path, path: &str) -> PathBuf {
    let mut file = directory.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => _ = file.pop(),
            Component::CurDir => {}
            part => file.push(part),
        }
    }
    file
}

fn name(file: &Path) -> String {
    format!("fullpipe/{}", file.display())
}

fn address(text: &str) -> String {
    format!(
        "data:text/javascript;base64,{}",
        BASE64.encode(text.as_bytes())
    )
}
