"""A scenario at every point of a grid."""

import json
import os
import signal
import threading
import time

import fullpipe
import pytest
from test_run import program, subprocess

TOML = """\
name = "loss"
repeats = 2

[axes]
"path.loss" = ["0%", "1%", "5%"]
"flow.controller" = ["bbr1", "cubic"]

[scenario]
name = "loss"
duration = "3s"
path = { rate = "10mbit", rtt = "40ms", buffer = "2bdp" }
flow = [{ controller = "bbr1" }]
"""

GRID = {
    "name": "loss",
    "repeats": 2,
    "axes": {"path.loss": ["0%", "1%", "5%"], "flow.controller": ["bbr1", "cubic"]},
    "scenario": {
        "name": "loss",
        "duration": "3s",
        "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "2bdp"},
        "flow": [{"controller": "bbr1"}],
    },
}


def columns(swept):
    return {name: list(swept.flows[name]) for name in swept.flows.column_names}


def test_every_point_is_run_as_often_as_it_is_repeated():
    swept = fullpipe.sweep(GRID)
    assert len(swept.flows) == 12
    found = columns(swept)
    assert found["axis_path_loss"] == [0.0] * 4 + [0.01] * 4 + [0.05] * 4
    assert found["flow_controller"] == ["bbr1", "bbr1", "cubic", "cubic"] * 3
    assert len(set(found["seed"])) == 12
    paired = fullpipe.sweep(GRID | {"paired": ["flow.controller"]})
    assert len(set(paired.flows["seed"])) == 6
    assert columns(fullpipe.sweep(TOML, jobs=1)) == found
    typed = GRID | {"scenario": fullpipe.Scenario(**GRID["scenario"])}
    assert columns(fullpipe.sweep(typed)) == found


def test_medians_are_those_that_the_program_prints(tmp_path):
    if program() is None:
        pytest.skip("the command fullpipe is not built; cargo build, or name it in FULLPIPE")
    file = tmp_path / "loss.toml"
    file.write_text(TOML)
    command = [program(), "sweep", file, "--json", "--quiet", "--out", tmp_path / "out"]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert fullpipe.sweep(file).summary == printed
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    written = parquet.read_table(tmp_path / "out" / "sweep.parquet")
    flows = pa.table(fullpipe.sweep(file).flows)
    kept = written.select(flows.column_names)
    assert flows.cast(kept.schema).equals(kept)
    left_out = set(written.column_names) - set(flows.column_names)
    assert all(pa.types.is_list(written.schema.field(name).type) for name in left_out)


def test_a_sweep_goes_on_where_it_was_interrupted(tmp_path):
    long = {"axes": {"path.loss": [f"{n}%" for n in range(60)]}}
    many = GRID | long | {"scenario": GRID["scenario"] | {"duration": "60s"}}
    out = tmp_path / "out"
    kept = out / "runs.jsonl"

    def press():
        while not kept.exists() or kept.read_text().count("\n") < 2:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        fullpipe.sweep(many, out=out)
    thread.join()
    before = kept.read_text().splitlines()
    assert 2 <= len(before) < 120
    swept = fullpipe.sweep(many, out=out, set={})
    after = kept.read_text().splitlines()
    assert after[: len(before)] == before and len(after) == 120
    assert swept.summary["runs"] == 120 and swept.summary["failed"] == []


def test_wrong_sweeps_are_answered(tmp_path):
    for wrong, field in [
        (GRID | {"axes": {"path.lsos": ["1%"]}}, "path.lsos"),
        (GRID | {"axes": {"path.loss": ["1%", "300%"]}}, "path.loss"),
        (GRID | {"repeats": 0}, "repeats"),
        ({key: GRID[key] for key in ("axes",)}, "scenario"),
        (GRID | {"repeats": 1_000_000}, "axes"),
        (GRID | {"axes": {"flow.controller": ["kernel:vegas"]}}, "flow.controller"),
    ]:
        with pytest.raises(fullpipe.ScenarioError) as raised:
            fullpipe.sweep(wrong)
        assert raised.value.field.endswith(field), raised.value
    with pytest.raises(fullpipe.ScenarioError, match="is varied by the axis"):
        fullpipe.sweep(GRID, set={"path.loss": "1%"})
    with pytest.raises(FileNotFoundError):
        fullpipe.sweep("nowhere.toml")
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(OSError, match="name another directory"):
        fullpipe.sweep(GRID, out=tmp_path)


def test_a_link_that_somebody_laid_is_not_followed(tmp_path):
    out = tmp_path / "out"
    fullpipe.sweep(GRID, out=out)
    theirs = tmp_path / "theirs"
    theirs.write_text("mine")
    (out / f"sweep.parquet.{os.getpid()}.part").symlink_to(theirs)
    fullpipe.sweep(GRID, out=out)
    assert theirs.read_text() == "mine"
    assert not (out / "sweep.parquet").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="a link of another user takes root")
def test_a_link_that_another_user_laid_to_a_directory_is_not_followed(tmp_path):
    tmp_path.chmod(0o1777)
    (tmp_path / "own").mkdir()
    (tmp_path / "link").symlink_to("own")
    fullpipe.sweep(GRID, out=tmp_path / "link" / "first")
    os.lchown(tmp_path / "link", 65_534, 65_534)
    with pytest.raises(OSError, match="is a symbolic link in a directory that is open to every user"):
        fullpipe.sweep(GRID, out=tmp_path / "link" / "second")
    assert [entry.name for entry in (tmp_path / "own").iterdir()] == ["first"]


def test_a_file_of_something_else_is_left_alone(tmp_path):
    notes = tmp_path / "runs.jsonl"
    notes.write_text("my notes\nmore")
    with pytest.raises(OSError, match="is of something else; name another directory"):
        fullpipe.sweep(GRID, out=tmp_path)
    assert notes.read_text() == "my notes\nmore"


def test_a_sweep_that_is_done_says_so(tmp_path, capsys):
    fullpipe.sweep(GRID, out=tmp_path / "out")
    fullpipe.sweep(GRID, out=tmp_path / "out", progress=True)
    assert capsys.readouterr().err == "nothing to run: all runs are done\n"


def test_its_tables_are_a_dataset(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    out = tmp_path / "out"
    swept = fullpipe.sweep(GRID, out=out)
    assert dataset.dataset(out / "sweep.parquet").count_rows() == len(swept.flows)


def test_the_scenario_of_a_sweep_may_be_text(scenario):
    text = fullpipe.run(scenario).scenario
    axes = {"path.loss": ["0%", "1%"]}
    of_text = fullpipe.sweep({"axes": axes, "scenario": text})
    assert list(of_text.flows["flow_goodput_bps"]) == list(
        fullpipe.sweep({"axes": axes, "scenario": scenario}).flows["flow_goodput_bps"]
    )
    with pytest.raises(fullpipe.ScenarioError, match="^line 2"):
        fullpipe.sweep({"axes": axes, "scenario": "name = \"a\"\n]"})


def test_links_are_not_followed(scenario, tmp_path):
    (tmp_path / "mine").mkdir()
    fullpipe.sweep(GRID, out=tmp_path / "out")
    (tmp_path / "out" / "parts").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="symbolic link"):
        fullpipe.sweep(GRID, out=tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="symbolic link"):
        fullpipe.run(scenario).write(tmp_path / "link")
