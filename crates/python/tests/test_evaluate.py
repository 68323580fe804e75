"""Evaluations by RFC 9743 from Python."""

import json
import subprocess

import fullpipe
import pytest
from fullpipe.reno import Reno
from test_run import program

# Cheap criteria: one of a path of its own, one of the drawn paths, and one with a neighbour.
FEW = ["constrained", "backoff", "data-centre"]


class Stubborn:
    """Always 200 packets, and twice that rate."""

    def __init__(self, connection):
        self.cwnd = 200 * connection.mss

    def on_ack(self, ack):
        return self.cwnd, 50_000_000


def test_a_class_in_python_is_judged():
    evaluation = fullpipe.evaluate(Stubborn, quick=True, only=["collapse"])
    assert evaluation.verdicts == {"collapse": "harms"}
    assert evaluation.summary["controller"] == "python:Stubborn"
    assert "harms others" in str(evaluation)
    assert "Protection Against Congestion Collapse" in evaluation.page
    assert not evaluation.failed


def test_reno_in_python_is_judged_as_reno_in_rust():
    python, rust = (fullpipe.evaluate(reno, quick=True, only=["constrained"]) for reno in (Reno, "reno"))
    own = [evaluation.summary["rows"][0]["values"][0]["cases"] for evaluation in (python, rust)]
    assert own[0] == own[1]


def test_a_flow_with_settings_is_judged():
    only = ["bufferbloat"]
    eager = {"controller": "bbr1", "bbr1": {"peak_gain": 1.5}}
    plain, other = (fullpipe.evaluate(said, quick=True, only=only) for said in ("bbr1", eager))
    cases = [one.summary["rows"][0]["values"] for one in (plain, other)]
    assert cases[0][0] != cases[1][0]
    assert cases[0][1:] == cases[1][1:]


def test_the_bytes_are_those_of_the_program():
    if program() is None:
        pytest.skip("the command fullpipe is not built; cargo build, or name it in FULLPIPE")
    command = [program(), "evaluate", "bbr1", "--quick", "--only", ",".join(FEW), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert fullpipe.evaluate("bbr1", quick=True, only=FEW).json + "\n" == done.stdout


@pytest.mark.parametrize(
    ("arguments", "wanted", "words"),
    [
        (("bbr9",), fullpipe.ScenarioError, "bbr9"),
        ((7,), fullpipe.ScenarioError, "7"),
        (({"controller": "bbr1", "bbr1": {"gain": 4}},), fullpipe.ScenarioError, "gain"),
        ((Reno(fullpipe.Connection()),), TypeError, "give the class itself"),
    ],
)
def test_wrong_controllers_are_named(arguments, wanted, words):
    with pytest.raises(wanted, match=words):
        fullpipe.evaluate(*arguments, quick=True)


def test_wrong_arguments_are_named():
    with pytest.raises(fullpipe.ScenarioError, match="`harm-cubic`"):
        fullpipe.evaluate("reno", only=["harm-cubi"])
    with pytest.raises(TypeError, match="only: "):
        fullpipe.evaluate("reno", only="harm-cubic")
    with pytest.raises(TypeError, match="quick: "):
        fullpipe.evaluate("reno", quick="yes")


def test_an_exception_of_the_class_ends_it():
    class Broken(Reno):
        def on_ack(self, ack):
            raise ZeroDivisionError("of mine")

    with pytest.raises(ZeroDivisionError, match="of mine"):
        fullpipe.evaluate(Broken, quick=True, only=FEW)


def test_ray_gives_the_same_bytes():
    ray = pytest.importorskip("ray", reason="Ray is not installed; in a clone, pip install '.[ray]'")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)

    # Workers cannot import this module. A class of a script or a function travels whole.
    class Local(fullpipe.reno.Reno):
        """Reno."""

    try:
        told = []
        for controller in ("bbr1", Local):
            here = fullpipe.evaluate(controller, quick=True, only=FEW)
            there = fullpipe.evaluate(
                controller, quick=True, only=FEW, executor="ray", progress=lambda *news: told.append(news)
            )
            assert there.json == here.json
            assert json.loads(there.json) == there.summary
        assert told[-1][0] == told[-1][1]
    finally:
        ray.shutdown()
