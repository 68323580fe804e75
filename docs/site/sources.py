"""The files of the repository that pages link to and that are no pages: the site has them, so that links work from any
place, for any forge, and show the files of the page's own commit."""

import html
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote, unquote

LINK = re.compile(r'(href|src|srcset)="([^":#?]+)"')
# Browsers show pictures, and people keep notebooks: these stay as they are.
KEPT = {".png", ".svg", ".ipynb"}
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'self' 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{name} - Fullpipe</title>
<style>
body {{ font-family: sans-serif; margin: 1rem auto; max-width: 60rem; padding: 0 1rem; }}
pre {{ overflow-wrap: anywhere; white-space: pre-wrap; }}
</style>
</head>
<body>
<p><a href="{up}index.html">Fullpipe</a> / {name}</p>
{content}
</body>
</html>
"""


def address(file: Path, folder: Path) -> str:
    """What a page in `folder` calls the file."""
    return quote(os.path.relpath(file, folder))


class Sources:
    """Files of the repository at `root` for the built pages in `site`."""

    def __init__(self, root: Path, site: Path) -> None:
        self.root = root
        self.site = site
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True)
        # A symbolic link could lead out of the repository.
        self.files = {Path(file) for file in listed.stdout.split("\0") if file and not (root / file).is_symlink()}
        self.children: dict[Path, set[Path]] = {}
        for file in self.files:
            for child, folder in zip([file, *file.parents], file.parents):
                self.children.setdefault(folder, set()).add(child)

    def place(self) -> None:
        """Adds what the pages link to, and changes the links to its place."""
        for page in self.site.rglob("*.html"):
            folder = page.parent.relative_to(self.site)
            if folder.parts[:1] == ("play",):
                continue

            def link(found: re.Match[str], folder: Path = folder) -> str:
                wanted = Path(os.path.normpath(folder / unquote(html.unescape(found[2]))))
                if (self.site / wanted).is_file():
                    return found[0]
                placed = self.placed(wanted)
                return f'{found[1]}="{address(placed, folder)}"' if placed else found[0]

            text = page.read_text(encoding="utf-8")
            page.write_text(LINK.sub(link, text), encoding="utf-8")

    def placed(self, path: Path) -> Path | None:
        """Where the site has the repository's file or folder, written at its first call; None if it is not tracked."""
        if path in self.files:
            place = path if path.suffix in KEPT else path.with_name(f"{path.name}.html")
            if not (self.site / place).exists():
                self.add(path, place)
            return place
        if path not in self.children:
            return None
        place = path / "index.html"
        if not (self.site / place).exists():
            self.write(path, place, "")  # A first time, for the folders within.
            entries = [(child, self.placed(child)) for child in sorted(self.children[path])]
            links = [f'<li><a href="{address(to, path)}">{html.escape(child.name)}</a>' for child, to in entries if to]
            self.write(path, place, f"<ul>\n{chr(10).join(links)}\n</ul>")
        return place

    def add(self, path: Path, place: Path) -> None:
        if path == place:
            (self.site / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, self.site / place)
        else:
            text = (self.root / path).read_text(encoding="utf-8")
            self.write(path, place, f"<pre>{html.escape(text)}</pre>")

    def write(self, path: Path, place: Path, content: str) -> None:
        (self.site / place).parent.mkdir(parents=True, exist_ok=True)
        up = "../" * len(place.parent.parts)
        page = PAGE.format(name=html.escape(str(path)), up=up, content=content)
        (self.site / place).write_text(page, encoding="utf-8")
