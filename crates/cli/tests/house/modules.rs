//! The modules of a crate, and the items of other files that each file names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use crate::text;

/// The arrows of a crate: each file, and the files whose items it names.
pub type Arrows = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The parts of `a::b::C`.
type Names = Vec<String>;

#[derive(Default)]
struct Module {
    file: PathBuf,
    /// True for a block of code with a `use` of its own. Its other names are those of its parent.
    is_block: bool,
    parent: usize,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths in code, outside of `use`.
    mentions: BTreeSet<Names>,
}

/// One name of a `use`.
struct Import {
    /// `None` for `*`.
    alias: Option<String>,
    path: Names,
    /// A re-export leads its users to another file. It is not a use itself.
    is_visible: bool,
}

/// The target of a path.
enum Target {
    Module(usize),
    /// An item in this module.
    Item(usize),
}

/// The modules of a library or a program. The first one is its root.
struct Modules(Vec<Module>);

/// The arrows between the files that the compiler reads from this root. Tests are left out, and parts of every feature
/// are included. A path leads to the file that defines its last name, through all re-exports; a call of a method leads
/// nowhere.
pub fn arrows(root: &Path) -> Arrows {
    let mut modules = Modules(vec![Module {
        file: root.to_owned(),
        ..Module::default()
    }]);
    modules.read_file(0, root.parent().expect("a directory"));
    modules.arrows()
}

impl Modules {
    /// Reads a module's file. Its own modules are in `directory`.
    fn read_file(&mut self, module: usize, directory: &Path) {
        let file = self.0[module].file.clone();
        let tokens: Result<TokenStream, _> = text(&file).parse();
        let tokens = tokens.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.read_items(module, tokens, directory);
    }

    /// Reads the items of a module or of its parts.
    fn read_items(&mut self, module: usize, tokens: TokenStream, directory: &Path) {
        for item in items(tokens) {
            let word = |at: usize| item.get(at).map(ToString::to_string).unwrap_or_default();
            let keyword = keyword(&item);
            let name = word(keyword + 1);
            match word(keyword).as_str() {
                "mod" => {
                    let path = path_attribute(&item[..keyword]);
                    let file = path.map(|path| directory.join(path));
                    self.read_module(module, &name, item.get(keyword + 2), directory, file);
                    continue;
                }
                "use" => {
                    let is_visible = item[..keyword].iter().any(|token| is(token, "pub"));
                    self.import(module, &item[keyword + 1..], is_visible);
                    continue;
                }
                "macro_rules" => {
                    self.0[module].items.insert(word(keyword + 2));
                }
                _ => {
                    self.0[module].items.insert(name);
                }
            }
            self.read_code(module, item.into_iter().collect());
        }
    }

    fn read_module(
        &mut self,
        parent: usize,
        name: &str,
        body: Option<&TokenTree>,
        directory: &Path,
        file: Option<PathBuf>,
    ) {
        let child = self.0.len();
        let within = directory.join(name);
        self.0[parent].children.insert(name.to_owned(), child);
        let mut module = Module {
            file: self.0[parent].file.clone(),
            parent,
            ..Module::default()
        };
        if let Some(TokenTree::Group(body)) = body {
            self.0.push(module);
            self.read_items(child, body.stream(), &within);
            return;
        }
        let within = match &file {
            Some(file) => file.parent().expect("a directory").to_owned(),
            None => within,
        };
        let usual = [within.with_extension("rs"), within.join("mod.rs")];
        let mut places = file.iter().chain(&usual);
        let place = places.find(|file| file.exists());
        module.file = place.unwrap_or_else(|| panic!("{within:?}")).clone();
        self.0.push(module);
        self.read_file(child, &within);
    }

    /// Reads the paths in an item or a block.
    fn read_code(&mut self, mut module: usize, tokens: TokenStream) {
        let (uses, code): (Vec<_>, _) = items(tokens)
            .into_iter()
            .partition(|part| import(part).is_some());
        if !uses.is_empty() {
            let block = Module {
                file: self.0[module].file.clone(),
                is_block: true,
                parent: module,
                ..Module::default()
            };
            module = self.0.len();
            self.0.push(block);
        }
        for part in uses {
            self.import(module, import(&part).unwrap_or_default(), false);
        }
        for part in code {
            let mut path = Vec::new();
            let (mut is_joined, mut is_first_colon) = (false, false);
            for token in &part {
                match token {
                    TokenTree::Ident(name) => {
                        if !is_joined {
                            self.mention(module, &mut path);
                        }
                        path.push(name.to_string());
                        is_joined = false;
                    }
                    // The second of two colons. A single one comes before a type or a value.
                    TokenTree::Punct(punct) if punct.as_char() == ':' => {
                        is_joined = is_first_colon;
                        is_first_colon = punct.spacing() == Spacing::Joint;
                    }
                    token => {
                        is_joined = false;
                        self.mention(module, &mut path);
                        if let TokenTree::Group(group) = token {
                            self.read_code(module, group.stream());
                        }
                    }
                }
            }
            self.mention(module, &mut path);
        }
    }

    fn import(&mut self, module: usize, tree: &[TokenTree], is_visible: bool) {
        read_use(tree, &mut Vec::new(), &mut |path, alias| {
            self.0[module].imports.push(Import {
                alias,
                path,
                is_visible,
            });
        });
    }

    fn mention(&mut self, module: usize, path: &mut Names) {
        if !path.is_empty() {
            self.0[module].mentions.insert(std::mem::take(path));
        }
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (place, module) in self.0.iter().enumerate() {
            let uses = arrows.entry(module.file.clone()).or_default();
            let named = module.mentions.iter().filter_map(|path| {
                // A variable may have the name of a module.
                match self.resolve(place, path, 0)? {
                    Target::Item(target) => Some(target),
                    Target::Module(_) => None,
                }
            });
            let imports = module.imports.iter().filter(|import| !import.is_visible);
            let imported = imports.filter_map(|import| {
                match self.resolve(place, &import.path, 0)? {
                    Target::Item(target) => Some(target),
                    // A module counts by the items that paths name in it; a glob import counts by itself.
                    Target::Module(target) => import.alias.is_none().then_some(target),
                }
            });
            let files = named.chain(imported).map(|target| &self.0[target].file);
            let own = self.files_above(place);
            uses.extend(files.filter(|file| !own.contains(file)).cloned());
        }
        arrows
    }

    /// The files of a module and of all modules that contain it.
    fn files_above(&self, mut module: usize) -> BTreeSet<&PathBuf> {
        let mut files = BTreeSet::from([&self.0[module].file]);
        while module != 0 {
            module = self.0[module].parent;
            files.insert(&self.0[module].file);
        }
        files
    }

    /// The target of a path in this module; `None` if it leads out of the crate.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let from = match first.as_str() {
            "self" | "super" if self.0[module].is_block => {
                return self.resolve(self.0[module].parent, path, depth);
            }
            "crate" => 0,
            "self" => module,
            "super" => self.0[module].parent,
            _ => return self.find(module, path, depth),
        };
        if rest.first().is_some_and(|next| next == "super") {
            return self.resolve(from, rest, depth);
        }
        self.find(from, rest, depth).or(Some(Target::Item(from)))
    }

    /// The target of a path that begins with a name in this module.
    fn find(&self, place: usize, path: &[String], depth: usize) -> Option<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Some(Target::Module(place));
        };
        let module = &self.0[place];
        let is_item = module.items.contains(first);
        if is_item && rest.is_empty() {
            return Some(Target::Item(place));
        }
        if let Some(child) = module.children.get(first)
            && !rest.is_empty()
        {
            return self
                .find(*child, rest, depth)
                .or(Some(Target::Item(*child)));
        }
        // Imports may form a loop, and each may be tried at every step.
        if depth > 8 {
            return None;
        }
        let imports = module.imports.iter().filter_map(|import| {
            let alias = import.alias.as_ref();
            let rest = match alias {
                Some(alias) if alias == first => rest,
                Some(_) => return None,
                None => path,
            };
            let from = match self.resolve(place, &import.path, depth + 1)? {
                Target::Module(from) => from,
                item if alias.is_some() => return Some(item),
                Target::Item(_) => return None,
            };
            self.find(from, rest, depth + 1)
        });
        let mut imports = imports.peekable();
        if imports.peek().is_some() {
            return imports.next();
        }
        if module.is_block {
            return self.find(module.parent, path, depth);
        }
        let child = module.children.get(first);
        let child = child.map(|child| Target::Module(*child));
        child.or(is_item.then_some(Target::Item(place)))
    }
}

/// Items, statements or fields that are compiled outside of tests.
fn items(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut items = vec![Vec::new()];
    let mut is_off = false;
    let mut is_attribute = false;
    for token in tokens {
        let item = items.last_mut().expect("an item");
        let is_field = is_off && keyword(item) == item.len();
        let is_end = match &token {
            TokenTree::Punct(punct) => {
                is_attribute |= punct.as_char() == '#';
                punct.as_char() == ';' || (punct.as_char() == ',' && is_field)
            }
            TokenTree::Group(group) => {
                if std::mem::take(&mut is_attribute) {
                    is_off |= is_of_tests(group.stream());
                    group.delimiter() != Delimiter::Bracket
                } else {
                    group.delimiter() == Delimiter::Brace
                }
            }
            _ => false,
        };
        let is_use = import(item).is_some();
        item.push(token);
        // The braces of a `use` do not end the item.
        let is_over = !is_use || item.last().is_some_and(|token| is(token, ";"));
        if is_end && is_over {
            if std::mem::take(&mut is_off) {
                items.pop();
            }
            items.push(Vec::new());
        }
    }
    if is_off {
        items.pop();
    }
    items
}

/// True if an attribute is for tests only.
fn is_of_tests(attribute: TokenStream) -> bool {
    let text: String = attribute
        .into_iter()
        .map(|token| token.to_string())
        .collect();
    let text = text.replace(' ', "");
    text.starts_with("cfg(test)") || text.starts_with("cfg(all(test,")
}

/// The file in `#[path = "…"]`.
fn path_attribute(before: &[TokenTree]) -> Option<String> {
    let groups = before.iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.to_string()),
        _ => None,
    });
    let mut paths = groups.filter(|text| text.starts_with("[path"));
    let path = paths.next()?;
    path.split('"').nth(1).map(str::to_owned)
}

fn is(token: &TokenTree, wanted: &str) -> bool {
    !matches!(token, TokenTree::Group(_)) && token.to_string() == wanted
}

/// The index of the keyword of an item. Its name follows.
fn keyword(item: &[TokenTree]) -> usize {
    const KEYWORDS: [&str; 11] = [
        "const",
        "enum",
        "fn",
        "macro_rules",
        "mod",
        "static",
        "struct",
        "trait",
        "type",
        "union",
        "use",
    ];
    let is_keyword = |token: &TokenTree| KEYWORDS.iter().any(|keyword| is(token, keyword));
    let first = item.iter().position(is_keyword).unwrap_or(item.len());
    let rest = item.get(first + 1..).unwrap_or_default();
    // `const unsafe fn name`.
    let of_function = rest.iter().take(3).position(|token| is(token, "fn"));
    of_function.map_or(first, |later| first + 1 + later)
}

/// The names of a `use`. The one in a type, `use<'a>`, has none.
fn import(item: &[TokenTree]) -> Option<&[TokenTree]> {
    let at = item.iter().position(|token| is(token, "use"))?;
    let tree = &item[at + 1..];
    let is_of_type = tree.first().is_some_and(|next| is(next, "<"));
    (!is_of_type).then_some(tree)
}

/// Passes each path of a `use`, and its local name, to `found`.
fn read_use(tree: &[TokenTree], before: &mut Names, found: &mut impl FnMut(Names, Option<String>)) {
    let begin = before.len();
    let mut alias = None;
    let mut is_renamed = false;
    for token in tree {
        match token {
            TokenTree::Group(group) => {
                let all: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in all.split(|token| is(token, ",")) {
                    if !part.is_empty() {
                        read_use(part, before, found);
                    }
                }
                before.truncate(begin);
                return;
            }
            TokenTree::Ident(name) if name == "as" => is_renamed = true,
            TokenTree::Ident(name) if is_renamed => alias = Some(name.to_string()),
            TokenTree::Ident(name) if name == "self" && !before.is_empty() => {}
            TokenTree::Ident(name) => before.push(name.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '*' => {
                found(before.clone(), None);
                before.truncate(begin);
                return;
            }
            _ => {}
        }
    }
    let alias = alias.or_else(|| before.last().cloned());
    found(before.clone(), alias);
    before.truncate(begin);
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use super::*;

    const FILES: [(&str, &str); 5] = [
        (
            "lib.rs",
            "mod a; mod b; pub use b::B; #[cfg(test)] mod tests;",
        ),
        (
            "a.rs",
            "use crate::B; #[cfg(test)] use crate::b::c::d; pub fn f(c: B) -> B { c }",
        ),
        (
            "b/mod.rs",
            "pub mod c; mod e { pub use super::c::d as g; } pub struct B; fn h() { e::g() }",
        ),
        (
            "b/c.rs",
            "use super::B; struct S { b: B, #[cfg(test)] a: crate::a::T, x: u8 } pub fn d() { vec![crate::a::f(B)]; }",
        ),
        ("tests.rs", "use crate::a::f;"),
    ];

    /// The arrows between these files.
    fn told(name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let root = env::temp_dir().join(format!("fullpipe-modules-{name}-{}", process::id()));
        for (name, text) in files {
            let file = root.join(name);
            fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
            fs::write(file, text).expect("a file");
        }
        let arrows = arrows(&root.join("lib.rs"));
        fs::remove_dir_all(&root).expect("the directory");
        let name = |file: &PathBuf| {
            file.strip_prefix(&root)
                .expect("inside")
                .display()
                .to_string()
        };
        let all = arrows
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        all.map(|(from, to)| format!("{} -> {}", name(from), name(to)))
            .collect()
    }

    #[test]
    fn arrows_lead_to_definitions() {
        let expected = ["a.rs -> b/mod.rs", "b/c.rs -> a.rs", "b/mod.rs -> b/c.rs"];
        assert_eq!(told("definitions", &FILES), expected);
    }

    #[test]
    fn a_function_may_have_names_of_its_own() {
        let modules = ("lib.rs", "mod a; mod b; mod c;");
        let file = ("b.rs", "pub fn write() {}");
        let other = ("c.rs", "pub fn write() {}");
        for (case, code) in [
            "fn f() { use crate::b; b::write() }",
            "fn f() { use crate::b as g; if x { g::write() } }",
            "fn f() { use crate::b::*; write() }",
            "fn f() { use super::{b::{self as g}}; g::write() }",
            "fn f() { use crate::b::write; write() }",
            "fn e() { use crate::c as g; } fn f() { use crate::b as g; g::write() }",
            "fn e() -> impl Sized + use<> {} use crate::b; fn f() { b::write() }",
        ]
        .into_iter()
        .enumerate()
        {
            let files = [modules, ("a.rs", code), file, other];
            let all = told(&format!("block-{case}"), &files);
            assert_eq!(all, ["a.rs -> b.rs"], "{code}");
        }
    }
}
