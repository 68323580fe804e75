"""Sweeps on a real Ray of two local workers."""

import json
import os
import signal
import sys
import threading
import time
import warnings

import fullpipe
import pytest
from test_full_disk import small_disk  # noqa: F401
from test_sweep import GRID, columns
from test_waiting import pressed

ray = pytest.importorskip("ray", reason="Ray is not installed; in a clone, pip install '.[ray]'")

# What every worker does when it starts: it writes down which tasks it begins and ends.
NOTES = """\
import json, os, time
from fullpipe import _native

def noted(task, work=_native._work):
    def note(what):
        keys = [run["key"] for run in json.loads(task)["runs"]]
        with open(os.environ["FULLPIPE_NOTES"], "a") as file:
            file.write(json.dumps({"what": what, "pid": os.getpid(), "keys": keys}) + "\\n")
    note("begin")
    # Long enough to be killed meanwhile.
    time.sleep(0.05)
    report = work(task)
    note("end")
    return report

_native._work = noted
"""

MANY = GRID | {"repeats": 20}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Ray with two workers; the file of what they do."""
    directory = tmp_path_factory.mktemp("workers")
    (directory / "sitecustomize.py").write_text(NOTES)
    notes = directory / "notes.jsonl"
    # Workers inherit it.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(directory), *filter(None, [os.environ.get("PYTHONPATH")])]))
        patch.setenv("FULLPIPE_NOTES", str(notes))
        ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
        yield notes
        ray.shutdown()


@pytest.fixture
def notes(cluster):
    """Reads what workers did since the test began."""
    cluster.write_text("")

    def read():
        return [json.loads(line) for line in cluster.read_text().splitlines()]

    return read


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What the threads of this process give."""
    out = tmp_path_factory.mktemp("alone") / "out"
    return fullpipe.sweep(MANY, out=out), (out / "sweep.parquet").read_bytes()


def kept(out):
    return {part.name: part.stat().st_mtime_ns for part in (out / "parts").glob("*.parquet")}


def begun(notes):
    return [key for note in notes if note["what"] == "begin" for key in note["keys"]]


def test_results_are_the_same_to_the_byte(notes, alone, tmp_path):
    swept, table = alone
    told = []
    out = tmp_path / "out"
    on_ray = fullpipe.sweep(MANY, out=out, executor="ray", progress=lambda *news: told.append(news))
    assert (out / "sweep.parquet").read_bytes() == table
    assert on_ray.summary == swept.summary and columns(on_ray) == columns(swept)
    assert told[-1] == (120, 120, 1.0) and len(told) > 2
    assert len({note["pid"] for note in notes()}) == 2, "both workers work"
    passing = fullpipe.sweep(MANY, executor="ray")
    assert passing.summary == swept.summary and columns(passing) == columns(swept)


def test_a_killed_worker_costs_its_runs_and_nothing_else(notes, alone, tmp_path):
    killed = []

    def kill():
        while sum(note["what"] == "end" for note in notes()) < 4:
            time.sleep(0.005)
        while not killed:
            open_tasks = {}
            for note in notes():
                open_tasks.pop(note["pid"], None)
                if note["what"] == "begin":
                    open_tasks[note["pid"]] = note["keys"]
            for pid, keys in open_tasks.items():
                os.kill(pid, signal.SIGKILL)
                killed.extend(keys)
                break

    thread = threading.Thread(target=kill)
    thread.start()
    swept = fullpipe.sweep(MANY, out=tmp_path / "out", executor="ray")
    thread.join()
    assert swept.summary["failed"] == [] and swept.summary == alone[0].summary
    assert (tmp_path / "out" / "sweep.parquet").read_bytes() == alone[1]
    runs = begun(notes())
    assert {key for key in runs if runs.count(key) > 1} == set(killed)
    assert len(runs) == 120 + len(killed)


class Enough(Exception):
    pass


def enough(ended, runs, share):
    if ended >= 10:
        raise Enough


def test_it_goes_on_where_it_was_interrupted(notes, alone, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Enough):
        fullpipe.sweep(MANY, out=out, executor="ray", progress=enough)
    before = kept(out)
    assert before and not (out / "sweep.parquet").exists()
    done = {key for note in notes() if note["what"] == "end" for key in note["keys"]}
    first = len(notes())
    # A table alone of what one executor left makes the other one's.
    fullpipe.sweep(MANY, out=out, executor="ray")
    assert done.isdisjoint(begun(notes()[first:]))
    assert before.items() <= kept(out).items()
    assert (out / "sweep.parquet").read_bytes() == alone[1]


def test_the_other_executor_goes_on_too(cluster, alone, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with pytest.raises(Enough):
        fullpipe.sweep(MANY, out=out, executor="ray", progress=enough)
    fullpipe.sweep(MANY, out=out)
    assert (out / "sweep.parquet").read_bytes() == alone[1]
    # Everything is done: no task is given.
    monkeypatch.setattr(ray, "remote", None)
    fullpipe.sweep(MANY, out=out, executor="ray")


def test_a_damaged_part_is_told_and_done_again(cluster, alone, tmp_path):
    out = tmp_path / "out"
    fullpipe.sweep(MANY, out=out, executor="ray")
    part = next((out / "parts").glob("*.parquet"))
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.warns(RuntimeWarning, match="1 files damaged and left out"):
        fullpipe.sweep(MANY, out=out, executor="ray")
    assert (out / "sweep.parquet").read_bytes() == alone[1]


    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fullpipe.sweep(MANY, out=out, executor="ray")


def test_results_that_get_lost_on_the_way_are_told(cluster, alone, tmp_path):
    out = tmp_path / "out"

    def damage(ended, runs, share):
        if not spoilt and (parts := sorted((out / "parts").glob("*.parquet"))):
            spoilt.append(parts[0])
            parts[0].write_bytes(parts[0].read_bytes()[:100])

    spoilt = []
    with pytest.raises(OSError, match="the results of [0-9]+ runs are damaged or gone.*call again") as raised:
        fullpipe.sweep(MANY, out=out, executor="ray", progress=damage)
    assert str(out / "parts") in str(raised.value)
    assert not (out / "sweep.parquet").exists()
    again = fullpipe.sweep(MANY, out=out, executor="ray")
    assert again.summary == alone[0].summary
    assert (out / "sweep.parquet").read_bytes() == alone[1]


def test_a_pipe_among_the_parts_is_damaged_and_nobody_waits(cluster, alone, tmp_path):
    out = tmp_path / "out"
    fullpipe.sweep(MANY, out=out, executor="ray")
    os.mkfifo(out / "parts" / "x.parquet")
    (out / "parts" / "y.parquet").symlink_to(tmp_path / "nowhere")
    with pytest.warns(RuntimeWarning, match="2 files damaged"):
        fullpipe.sweep(MANY, out=out, executor="ray")
    assert (out / "sweep.parquet").read_bytes() == alone[1]


def test_a_worker_without_the_package_is_told_in_one_line(cluster, monkeypatch, tmp_path):
    # The driver has this module and workers have not, as if it were the package.
    (tmp_path / "elsewhere.py").write_text("def work(task):\n    return task\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import elsewhere
    from fullpipe import _ray

    monkeypatch.setattr(_ray, "_work", elsewhere.work)
    with pytest.raises(fullpipe.EngineError, match="install the same wheel") as raised:
        fullpipe.sweep(GRID, executor="ray")
    assert "\n" not in str(raised.value)


def test_a_cluster_that_grows_is_used_and_one_without_processors_is_told(cluster, monkeypatch):
    from fullpipe import _ray

    counts = iter([{}, {}, {"CPU": 1.0}, {"CPU": 8.0}])
    monkeypatch.setattr(_ray, "LOOK_S", 0)
    monkeypatch.setattr(_ray, "EMPTY_S", 0)
    monkeypatch.setattr(_ray.ray, "cluster_resources", lambda: next(counts))
    of = _ray._Cluster()
    with pytest.warns(RuntimeWarning, match="no processors"):
        assert of.processors() == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [of.processors() for _ in range(3)] == [0, 1, 8]


def test_ctrl_c_ends_it(notes, tmp_path):
    long = GRID | {"scenario": GRID["scenario"] | {"duration": "1000000s"}}
    thread = pressed(lambda: [time.sleep(0.01) for _ in iter(lambda: len(begun(notes())), 2)])
    with pytest.raises(KeyboardInterrupt):
        fullpipe.sweep(long, out=tmp_path / "out", executor="ray")
    thread.join()
    # The workers are free again.
    assert fullpipe.sweep(GRID, executor="ray").summary["failed"] == []


def test_few_tasks_are_in_flight(cluster):
    class Grid:
        missing, given, taken, most = 50, 0, 0, 0

        def task(self, size):
            if self.given == self.missing:
                return None
            self.given += 1
            self.most = max(self.most, self.given - self.taken)
            return ('{"directory": null, "runs": []}',), 1

        def take(self, report):
            self.taken += 1
            return json.loads(report)["seconds"]

    from fullpipe import _ray

    for jobs, most in [(3, 3), (None, 4)]:
        grid = Grid()
        _ray.drive(grid, jobs, None)
        assert (grid.taken, grid.most) == (50, most)


def test_a_full_disk_is_an_os_error_and_what_is_done_is_kept(cluster, alone, small_disk):  # noqa: F811
    out = small_disk.path / "out"
    with pytest.raises(OSError) as raised:
        fullpipe.sweep(MANY, out=out, executor="ray")
    assert raised.value.errno == 28, raised.value
    before = kept(out)
    small_disk.grow()
    fullpipe.sweep(MANY, out=out, executor="ray")
    assert before.items() <= kept(out).items()
    assert (out / "sweep.parquet").read_bytes() == alone[1]


def test_wrong_arguments_are_answered(cluster, tmp_path):
    for argument, field in [
        ({"executor": "dask"}, "executor"),
        ({"executor": "ray", "jobs": 0}, "jobs"),
        ({"executor": "ray", "set": {"path.rtt": "fast"}}, "path.rtt"),
    ]:
        with pytest.raises(fullpipe.ScenarioError) as raised:
            fullpipe.sweep(GRID, out=tmp_path / "out", **argument)
        assert raised.value.field == field, raised.value
    with pytest.raises(fullpipe.ScenarioError, match="in real time") as raised:
        fullpipe.sweep(GRID | {"engine": "quic"}, executor="ray")
    assert raised.value.field == "engine"


def test_where_ray_is_missing_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError) as raised:
        fullpipe.sweep(GRID, executor="ray")
    assert str(raised.value) == "executor: Ray is not installed; in a clone, pip install '.[ray]'"
