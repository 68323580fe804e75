"""Types and docstrings say what the module is."""

import inspect
import subprocess
import sys

import fullpipe
import pytest


def test_stubs_are_the_module(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed; pip install '.[test]'")
    pytest.importorskip("ray", reason="Ray, which a module uses, is not installed; pip install '.[ray]'")
    pytest.importorskip("gymnasium", reason="Gymnasium, which a module uses, is not installed; pip install '.[gym]'")
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "fullpipe"]
    compared = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_python_code_has_the_types_that_it_states(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed; pip install '.[test]'")
    pytest.importorskip("ray", reason="Ray, which a module uses, is not installed; pip install '.[ray]'")
    pytest.importorskip("gymnasium", reason="Gymnasium, which a module uses, is not installed; pip install '.[gym]'")
    command = [sys.executable, "-m", "mypy", "--strict", "--package", "fullpipe"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_everything_has_a_docstring():
    for name in fullpipe.__all__:
        thing = getattr(fullpipe, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                assert inspect.getdoc(value), f"{name}.{member}"
