"""Every snippet in the documentation runs."""

import re
import shutil
import subprocess

import fullpipe
import pytest
from conftest import ROOT
from test_run import program

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

# What a snippet needs beside the package.
NEEDS = ("polars", "pyarrow", "duckdb", "ray")


SWEEP = """\
name = "loss-sweep"
axes = { "path.loss" = ["0%", "1%"], "flow.controller" = ["bbr1", "cubic"] }
scenario = { name = "loss", path = { rate = "10mbit", rtt = "40ms" }, flow = [{ controller = "bbr1", bytes = "300kb" }] }
"""

PROBE = """\
name = "b4"
bytes = "300kb"
path = { rate = "10mbit", rtt = "40ms" }
"""


def snippets(document, language="python"):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / document).read_text(), re.DOTALL)


def rows(document):
    """What the queries of a page find, in the working directory."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    queries = [query for snippet in snippets(document, "sql") for query in snippet.split(";") if query.strip()]
    return [duckdb.sql(query).fetchall() for query in queries]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    if program() is None:
        pytest.skip("the command fullpipe is not built; cargo build, or name it in FULLPIPE")
    subprocess.run([program(), *arguments, "--quiet"], check=True, capture_output=True)


def test_the_page_about_evaluations_runs():
    pytest.importorskip("ray", reason="ray is not installed")
    names = {}
    for snippet in snippets("evaluate.md"):
        exec(compile(snippet, snippet, "exec"), names)
    verdicts = names["evaluation"].verdicts
    __import__("ray").shutdown()
    assert list(verdicts) == ["harm-cubic"]


def test_the_page_about_python_runs_from_its_first_line_to_its_last(here):
    shutil.copytree(ROOT / "scenarios", here / "scenarios")
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


def test_the_page_about_environments_trains_an_agent(here):
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed; in a clone, pip install '.[gym]'")
    shutil.copytree(ROOT / "scenarios", here / "scenarios")
    names = {}
    for snippet in snippets("gym.md"):
        exec(compile(snippet, snippet, "exec"), names)
    assert names["learned"] > names["by_chance"]
    assert list(names["evaluation"].verdicts) == ["constrained"]


def test_the_page_about_records_reads_one(here, scenario):
    for package in ("polars", "pandas", "pyarrow"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    # A query looks at what follows the first five seconds.
    scenario["duration"] = "8s"
    scenario["flow"][1] |= {"start": "5s", "bytes": "300kb"}
    fullpipe.run(scenario).write("DIR")
    medians, about, summaries = rows("records.md")
    assert [controller for _, controller, *_ in medians] == ["bbr1", "cubic"]
    assert "fullpipe.scenario" in dict(about)
    assert summaries[0][0] == scenario["name"]
    for snippet in snippets("records.md"):
        exec(compile(snippet, snippet, "exec"), {})
    matplotlib.pyplot.close("all")


def test_the_page_about_sweeps_reads_one(here):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    (here / "loss.toml").write_text(SWEEP)
    run("sweep", "loss.toml", "--out", "loss-sweep")
    medians, completions = rows("sweep.md")
    assert len(medians) == len(completions) == 4
    for snippet in snippets("sweep.md"):
        exec(compile(snippet, snippet, "exec"), {"polars": polars})


def test_the_page_about_probes_reads_their_rows(here):
    (here / "b4.toml").write_text(PROBE)
    run("probe", "b4.toml", "--rounds", "2", "--out", "b4")
    medians, = rows("probe.md")
    assert sorted(controller for _, controller, _ in medians) == ["bbr1", "cubic"]
