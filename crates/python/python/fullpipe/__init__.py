"""BBR congestion control that can be run, measured and trusted.

>>> import fullpipe
>>> record = fullpipe.run({
...     "name": "light-loss", "duration": "5s",
...     "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "4bdp", "loss": "1%"},
...     "flow": [{"controller": "bbr1"}, {"controller": "cubic"}],
... })
>>> [flow["controller"] for flow in record.summary["flows"]]
['bbr1', 'cubic']
"""

from ._errors import EngineError, ScenarioError
from ._native import (
    Ack,
    Advice,
    Column,
    Connection,
    Evaluation,
    Record,
    Sender,
    Sweep,
    Table,
    Trace,
    __version__,
    advise,
    evaluate,
    run,
    sweep,
    trace,
)
from ._scenario import Flow, Host, Link, Path, Scenario

__all__ = [
    "Ack",
    "Advice",
    "Column",
    "Connection",
    "EngineError",
    "Evaluation",
    "Flow",
    "Host",
    "Link",
    "Path",
    "Record",
    "Scenario",
    "ScenarioError",
    "Sender",
    "Sweep",
    "Table",
    "Trace",
    "__version__",
    "advise",
    "evaluate",
    "run",
    "sweep",
    "trace",
]
