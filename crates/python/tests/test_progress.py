"""Whoever waits for many runs is told how far they have come."""

import fullpipe
import pytest
from test_sweep import GRID


def test_a_function_is_told_how_many_runs_have_ended():
    told = []
    fullpipe.sweep(GRID, progress=lambda *news: told.append(news))
    assert told[-1] == (12, 12, 1.0)
    ended, runs, shares = zip(*told)
    assert list(ended) == sorted(ended) and set(runs) == {12}
    assert list(shares) == sorted(shares)


def test_what_is_done_already_is_not_counted(tmp_path):
    fullpipe.sweep(GRID | {"repeats": 1}, out=tmp_path / "out")
    told = []
    fullpipe.sweep(GRID, out=tmp_path / "out", progress=lambda *news: told.append(news))
    assert told[-1] == (6, 6, 1.0)


def test_what_it_raises_ends_the_sweep(tmp_path):
    def enough(ended, runs, share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fullpipe.sweep(GRID, out=tmp_path / "out", progress=enough)
    assert fullpipe.sweep(GRID, out=tmp_path / "out").summary["runs"] == 12


def test_true_is_a_line_on_stderr(capsys):
    fullpipe.sweep(GRID, progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[-1].startswith("12 of 12 runs, 100 %")
    fullpipe.sweep(GRID, progress=False)
    assert capsys.readouterr().err == ""


def test_anything_else_is_a_type_error():
    with pytest.raises(TypeError, match="progress: .* give True"):
        fullpipe.sweep(GRID, progress="yes")


def test_runs_that_progress_runs_have_an_end():
    def again(ended, runs, share):
        fullpipe.sweep(GRID, progress=again)

    with pytest.raises(RecursionError, match="^progress: 16 runs are nested"):
        fullpipe.sweep(GRID, progress=again)
    fullpipe.sweep(GRID, progress=lambda *news: None)


def test_without_a_stderr_there_is_no_line(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    assert fullpipe.sweep(GRID, progress=True).summary["runs"] == 12
