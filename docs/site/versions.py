"""The versions of the site: a folder for each, the list of them, and the front page that leads to the newest release."""

import html
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

RELEASE = re.compile(r"v(\d+)\.(\d+)")
HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Fullpipe</title>
"""
LIST = """<style>body { font-family: sans-serif; margin: 2rem auto; max-width: 40rem; padding: 0 1rem; }</style>
</head>
<body>
<h1>Versions of Fullpipe's documents</h1>
<ul>
%s
</ul>
</body>
</html>
"""
FRONT = """<meta http-equiv="refresh" content="0; url=%s/index.html">
</head>
<body><p><a href="%s/index.html">Fullpipe</a></p></body>
</html>
"""


class Version(NamedTuple):
    """`name` is its folder: vX.Y or main. `label` is what pages say."""

    name: str
    label: str

    @classmethod
    def of(cls, root: Path) -> "Version":
        """The version of the repository's checkout."""

        def git(*command: str) -> str:
            done = subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, text=True)
            return done.stdout.strip()

        number = re.search(r'^version = "(.+)"$', (root / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
        if number is None:
            raise ValueError("Cargo.toml has no version")
        changed = " with changes" if git("status", "--porcelain", "--untracked-files=no") else ""
        label = f"{number[1]}, commit {git('log', '-1', '--format=%h of %cs')}{changed}"
        released = [tag for tag in git("tag", "--points-at", "HEAD").split() if tag == f"v{number[1]}"]
        name = RELEASE.match(released[0]) if released else None
        return cls(name[0] if name else "main", label)

    def leave_in(self, pages: Path) -> None:
        (pages / "version.txt").write_text(f"{self.label}\n", encoding="utf-8")


def age(name: str) -> tuple[int, int]:
    release = RELEASE.fullmatch(name)
    return (int(release[1]), int(release[2])) if release else (-1, -1)


def write_list(site: Path) -> None:
    """Writes versions.html and index.html of the versions that are in `site`: releases, the newest first, and then main."""
    names = sorted((file.parent.name for file in site.glob("*/version.txt")), key=age, reverse=True)
    if not names:
        raise ValueError(f"{site} has no version: docs/site/build writes one")
    labels = [(site / name / "version.txt").read_text(encoding="utf-8").strip() for name in names]
    lines = [f'<li><a href="{name}/index.html">{name}</a>: {html.escape(label)}' for name, label in zip(names, labels)]
    (site / "versions.html").write_text(HEAD + LIST % "\n".join(lines), encoding="utf-8")
    (site / "index.html").write_text(HEAD + FRONT % (names[0], names[0]), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--name"]:
        print(Version.of(Path(__file__).resolve().parents[2]).name)
    else:
        write_list(Path(sys.argv[1]))
