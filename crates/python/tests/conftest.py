"""What the tests have in common."""

import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def pytest_runtest_logreport(report):
    """Skipped tests are told at the end of .ci/run, as those of the crates (crates/skipping)."""
    if isinstance(report.longrepr, tuple) and (file := os.environ.get("FULLPIPE_SKIPPED")):
        reason = " ".join(report.longrepr[2].removeprefix("Skipped: ").split())
        with Path(file).open("a") as lines:
            lines.write(f"SKIPPED fullpipe-python {report.nodeid}: {reason}\n")


pytest_collectreport = pytest_runtest_logreport


@pytest.fixture(autouse=True)
def pythons_own_handler():
    """Polars, once imported, has the system restart what Ctrl-C interrupts: no lock of Python's ends then, in any code. A
    shell that starts the tests in the background has Ctrl-C ignored: the tests that press it would wait without end."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def scenario():
    """Two flows on a lossy path, for five seconds."""
    return {
        "name": "light-loss",
        "duration": "5s",
        "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "4bdp", "loss": "1%"},
        "flow": [{"controller": "bbr1"}, {"controller": "cubic", "start": "1s"}],
    }


@pytest.fixture
def endless(scenario):
    """As much simulated time as nobody waits for."""
    return scenario | {"duration": "1000000s"}
