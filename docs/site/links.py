"""Whether every link of a built site leads to a file and an anchor in it, and whether a page loads anything from elsewhere, or
has a script in its text: those of the site stand around it."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

STYLE_FROM_ELSEWHERE = re.compile(r"""(?:url\(|@import)\s*['"]?(?:https?:)?//[^'")\s]*""")


class Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.scripts: list[str] = []
        self.is_text = False
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_text = self.is_text or tag == "main"
        if self.is_text and tag in ("script", "iframe", "object", "embed"):
            self.scripts.append(f"<{tag}")
        for name, value in attrs:
            if self.is_text and name.startswith("on"):
                self.scripts.append(name)
            if value is None:
                continue
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)
            elif name in ("href", "src", "srcset", "data", "poster"):
                (self.links if tag == "a" else self.loads).append(value)

    def handle_endtag(self, tag: str) -> None:
        self.is_text = self.is_text and tag != "main"


def faults(site: Path) -> list[str]:
    """A line for each link that leads nowhere, each thing that is loaded from elsewhere, and each script in a text."""
    pages = {file: Page(file) for file in sorted(site.rglob("*.html"))}
    found = []
    for file, page in pages.items():
        shown = file.relative_to(site)
        found += [f"{shown}: has {script} in its text" for script in page.scripts]
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme == "javascript":
                found.append(f"{shown}: has {link} in its text")
                continue
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if link in page.loads:
                    found.append(f"{shown}: loads {link}")
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_relative_to(site) or not target.is_file():
                found.append(f"{shown}: {link} leads to no file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{shown}: {link} leads to no anchor")
    for file in site.rglob("*.css"):
        for address in STYLE_FROM_ELSEWHERE.findall(file.read_text(encoding="utf-8")):
            found.append(f"{file.relative_to(site)}: loads {address}")
    return found
