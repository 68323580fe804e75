"""What the tests have in common."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


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
