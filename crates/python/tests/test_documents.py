"""Every snippet in the documentation runs."""

import re
import shutil

import pytest
from conftest import ROOT

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

# What a snippet needs beside the package.
NEEDS = ("polars", "pyarrow", "duckdb", "ray")


def snippets(document):
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / document).read_text(), re.DOTALL)


def test_the_page_about_evaluations_runs():
    pytest.importorskip("ray", reason="ray is not installed")
    names = {}
    for snippet in snippets("evaluate.md"):
        exec(compile(snippet, snippet, "exec"), names)
    verdicts = names["evaluation"].verdicts
    __import__("ray").shutdown()
    assert list(verdicts) == ["harm-cubic"]


def test_the_page_about_python_runs_from_its_first_line_to_its_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    found = snippets("python.md")
    assert len(found) >= 8
    names = {}
    for snippet in found:
        for package in NEEDS:
            if package in snippet:
                pytest.importorskip(package, reason=f"{package} is not installed")
        exec(compile(snippet, snippet, "exec"), names)
    matplotlib.pyplot.close("all")
    if "ray" in names:
        names["ray"].shutdown()
