"""Notebooks run from their first cell to their last."""

import json

import pytest
from conftest import ROOT

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads(notebook.read_text())["cells"]
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs do not belong into the repository"
            exec(compile("".join(cell["source"]), str(notebook), "exec"), names)
    matplotlib.pyplot.close("all")
