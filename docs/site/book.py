"""The pages as a book of mdBook."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from string import Template

from versions import Version

HERE = Path(__file__).parent
PAGE = re.compile(r"(?<=\]\()[^)#:]+\.md(?=\))")
PLAYGROUND = '· <a href="{{ path_to_root }}play/fullpipe.html">try it in the browser</a>'


class Book:
    """The pages of docs/SUMMARY.md, which has the syntax of mdBook with links from its own folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        contents = (root / "docs/SUMMARY.md").read_text(encoding="utf-8")
        self.summary = PAGE.sub(lambda link: os.path.normpath(f"docs/{link[0]}"), contents)

    def build(self, to: Path, version: Version, play: Path | None) -> None:
        """Replaces the folder `to`."""
        mdbook = shutil.which("mdbook")
        if mdbook is None or " v0.5." not in subprocess.check_output([mdbook, "--version"], text=True):
            raise ValueError("mdbook 0.5 is not installed: cargo install mdbook@0.5.4 --locked")
        shutil.rmtree(to, ignore_errors=True)
        # Outside the repository: mdBook would copy every file beside the pages, compiled ones included.
        with tempfile.TemporaryDirectory() as place:
            stage = Path(place)
            for page in PAGE.findall(self.summary):
                staged = stage / "src" / page
                staged.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.root / page, staged)
            (stage / "src/SUMMARY.md").write_text(self.summary, encoding="utf-8")
            for file in ["book.toml", "site.css", "theme/head.hbs"]:
                (stage / file).parent.mkdir(exist_ok=True)
                shutil.copyfile(HERE / file, stage / file)
            header = Template((HERE / "theme/header.hbs").read_text(encoding="utf-8"))
            shown = header.substitute(version=version.label, play=PLAYGROUND if play else "")
            (stage / "theme/header.hbs").write_text(shown, encoding="utf-8")
            quiet = os.environ | {"MDBOOK_LOG": "warn"}
            subprocess.run([mdbook, "build", "--dest-dir", str(to), str(stage)], check=True, env=quiet)
        if play:
            shutil.copytree(play, to / "play")
