//! A page in a browser: on a phone, in the dark, and on paper. Nothing may be wider than the screen or the paper.
//!
//! Chromium is driven over its pipe for debugging: JSON messages that end with a zero byte
//! (<https://chromedevtools.github.io/devtools-protocol/>).

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A phone's width and height in CSS pixels.
const PHONE: (u32, u32) = (390, 844);

/// The area of A4 within the page's margins of 12 mm, upright and on its side, at 96 pixels per inch.
const UPRIGHT: (u32, u32) = (703, 1032);
const ON_ITS_SIDE: (u32, u32) = (1032, 703);

/// The maximum time for an answer of the browser. It guards against hanging, and measures nothing.
const TIMEOUT: Duration = Duration::from_secs(100);

/// The elements that are wider than the page. On a screen, a table or a listing may scroll in its box.
const TOO_WIDE: &str = "((onPaper) => {
  const width = document.documentElement.clientWidth;
  const found = [];
  if (document.documentElement.scrollWidth > width) found.push(`the page scrolls: ${document.documentElement.scrollWidth}`);
  for (const element of document.body.querySelectorAll('*')) {
    const box = element.getBoundingClientRect();
    const inner = onPaper ? 'svg *' : 'svg *, pre *, .scroll *';
    if (!box.width || !box.height || element.matches(inner)) continue;
    const at = `${element.tagName}.${element.className?.baseVal ?? element.className} from ${box.left} to ${box.right}`;
    if (box.right > width + 1 || box.left < -1) found.push(at);
    const plot = element.closest('.plot')?.getBoundingClientRect();
    if (plot && element.matches('canvas') && (box.right > plot.right + 1 || box.bottom > plot.bottom + 1)) found.push(`overlaps: ${at}`);
  }
  return found.slice(0, 5);
})";

/// A browser, which ends when this is dropped.
pub struct Browser {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    asked: u64,
    _profile: tempfile::TempDir,
}

/// The charts that do not fit a sheet and are cut between two. A sheet on its side has a heading above the chart, and
/// the first one also the page's title.
const TOO_HIGH: &str = "[...document.querySelectorAll('.picture svg')]
  .map((chart) => Math.round(chart.getBoundingClientRect().height))
  .filter((height) => height > 0.8 * innerHeight && innerHeight < innerWidth || height > innerHeight)
  .map((height) => `a chart is ${height} high on a sheet of ${innerHeight}`)
  .slice(0, 5)";

impl Browser {
    /// Starts Chromium, if it is installed.
    pub fn start() -> Option<Browser> {
        let name = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|name| {
                let version = Command::new(name).arg("--version").output();
                version.is_ok_and(|output| output.status.success())
            })?;
        let profile = tempfile::tempdir().expect("a directory");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--remote-debugging-pipe",
        ];
        // The browser reads file 3 and writes file 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>&1", name])
            .args(arguments)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let stdin = child.stdin.take().expect("piped");
        let messages = messages(child.stdout.take().expect("piped"));
        let mut browser = Browser {
            child,
            stdin,
            messages,
            session: None,
            asked: 0,
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        browser.ask("Page.enable", json!({}));
        browser.ask("Runtime.enable", json!({}));
        Some(browser)
    }

    /// Returns the faults of this page's appearance: elements too wide for a phone or for paper, dark ones on paper,
    /// and errors of its script.
    pub fn faults(&mut self, page: &Path) -> Vec<String> {
        let page = page.canonicalize().expect("a page");
        let name = page.file_name().unwrap_or_default().display().to_string();
        let mut faults = Vec::new();
        for theme in ["light", "dark"] {
            let features = json!([{ "name": "prefers-color-scheme", "value": theme }]);
            self.emulate("screen", &features, PHONE);
            self.open(&page);
            let found = self.evaluate(&format!("{TOO_WIDE}(false)"));
            faults.extend(texts(&found).map(|fault| format!("{name}, {theme} phone: {fault}")));
        }
        // The page is still dark.
        self.evaluate("dispatchEvent(new Event('beforeprint'))");
        let is_wide = "document.querySelector('th:nth-child(12)') != null";
        let sheet = match self.evaluate(is_wide) {
            Value::Bool(true) => ON_ITS_SIDE,
            _ => UPRIGHT,
        };
        let dark = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
        self.emulate("print", &dark, sheet);
        let found = self.evaluate(&format!("{TOO_WIDE}(true)"));
        faults.extend(texts(&found).map(|fault| format!("{name}, paper: {fault}")));
        let found = self.evaluate(TOO_HIGH);
        faults.extend(texts(&found).map(|fault| format!("{name}, paper: {fault}")));
        let ground = self.evaluate("getComputedStyle(document.body).backgroundColor");
        if ground != "rgb(255, 255, 255)" {
            faults.push(format!("{name}, paper: its ground is {ground}"));
        }
        self.evaluate("dispatchEvent(new Event('afterprint'))");
        let unnamed = "[...document.querySelectorAll('svg, .uplot')].filter((one) => !one.getAttribute('aria-label')).length";
        if self.evaluate(unnamed) != 0 {
            faults.push(format!(
                "{name}: a chart has no text for those who do not see it"
            ));
        }
        faults
    }

    fn emulate(&mut self, media: &str, features: &Value, (width, height): (u32, u32)) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": media == "screen" });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        let media = json!({ "media": media, "features": features });
        self.ask("Emulation.setEmulatedMedia", media);
        self.settle();
    }

    fn open(&mut self, page: &Path) {
        let url = format!("file://{}", page.display());
        self.ask("Page.navigate", json!({ "url": url }));
        self.evaluate("document.readyState === 'complete' || new Promise((done) => addEventListener('load', done))");
        // Everything is drawn when it comes near the window.
        self.evaluate("scrollTo(0, document.body.scrollHeight)");
        self.settle();
    }

    fn settle(&mut self) {
        self.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let evaluate =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", evaluate);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let written = self.stdin.write_all(format!("{message}\0").as_bytes());
        written.expect("the browser reads");
        loop {
            let answer = self.messages.recv_timeout(TIMEOUT);
            let answer = answer.unwrap_or_else(|error| panic!("{method}: {error}"));
            assert_ne!(answer["method"], "Runtime.exceptionThrown", "{answer}");
            if answer["id"] == self.asked {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn texts(found: &Value) -> impl Iterator<Item = &str> {
    found
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Receives the messages of a browser.
fn messages(stdout: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || -> io::Result<()> {
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut message = Vec::new();
            if stdout.read_until(0, &mut message)? == 0 {
                return Ok(());
            }
            message.pop();
            let message = serde_json::from_slice(&message)?;
            if sender.send(message).is_err() {
                return Ok(());
            }
        }
    });
    receiver
}
