"""The native half of the package; its docstrings say what everything means."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, final, overload

from ._scenario import Path, Scenario

__all__ = [
    "Ack",
    "Advice",
    "Claims",
    "Column",
    "Connection",
    "Record",
    "Sender",
    "Sweep",
    "Table",
    "Trace",
    "_Grid",
    "__version__",
    "_looks",
    "_work",
    "advise",
    "claims",
    "run",
    "sweep",
    "trace",
]

__version__: str

_Progress = bool | Callable[[int, int, float], object]

def run(
    scenario: Scenario | Mapping[str, Any] | str | os.PathLike[str],
    *,
    engine: Literal["sim", "quic", "linux"] = "sim",
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
) -> Record: ...

def sweep(
    sweep: Mapping[str, Any] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    executor: Literal["local", "ray"] = "local",
    jobs: int | None = None,
    set: Mapping[str, Any] | None = None,
    progress: _Progress | None = None,
) -> Sweep: ...

def advise(
    path: Path | Scenario | Record | Mapping[str, Any] | str | os.PathLike[str],
    *,
    goal: Literal["throughput", "latency", "fair"] = "throughput",
    controllers: Sequence[str] | None = None,
    paths: int | None = None,
    duration: str | None = None,
    seed: int = 1,
    set: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    progress: _Progress | None = None,
) -> Advice: ...

def claims(
    ids: Sequence[str] = ...,
    *,
    engine: Literal["sim", "quic", "linux"] = "sim",
    quick: bool = False,
    scenarios: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: _Progress | None = None,
) -> Claims: ...

def trace(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> Trace: ...

def _work(task: str) -> str: ...
def _looks(controllers: Sequence[str]) -> list[tuple[str, str, int]]: ...

@final
class Record:
    @property
    def summary(self) -> dict[str, Any]: ...
    @property
    def scenario(self) -> str: ...
    @property
    def samples(self) -> Table: ...
    @property
    def throughput(self) -> Table: ...
    @property
    def queue(self) -> Table: ...
    @property
    def transfers(self) -> Table: ...
    def write(
        self,
        directory: str | os.PathLike[str],
        *,
        qlog: Sequence[int] = ...,
        grid: str | None = None,
    ) -> None: ...

@final
class Table:
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str, /) -> Column: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Column:
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int, /) -> int | float | str | None: ...
    @overload
    def __getitem__(self, at: slice, /) -> Column: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __iter__(self) -> Iterator[int | float | str | None]: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

@final
class Sweep:
    @property
    def flows(self) -> Table: ...
    @property
    def summary(self) -> dict[str, Any]: ...

@final
class Advice:
    @property
    def choice(self) -> str: ...
    @property
    def summary(self) -> dict[str, Any]: ...
    @property
    def page(self) -> str: ...
    @property
    def failed(self) -> list[tuple[str, str]]: ...

@final
class Claims:
    @property
    def summary(self) -> dict[str, Any]: ...

@final
class Trace:
    @property
    def summary(self) -> dict[str, Any]: ...
    @property
    def connections(self) -> Table: ...
    @property
    def samples(self) -> Table: ...
    @property
    def scenario(self) -> str | None: ...
    @property
    def ranges(self) -> str | None: ...
    def write(self, directory: str | os.PathLike[str]) -> None: ...

@final
class _Grid:
    @property
    def missing(self) -> int: ...
    def task(self, most: int) -> tuple[str, int] | None: ...
    def take(self, report: str) -> float: ...

@final
class Sender:
    def __new__(
        cls,
        controller: Literal["bbr1", "bbr3", "cubic", "reno"] | Callable[[Connection], Any],
        connection: Connection | None = None,
    ) -> Sender: ...
    @property
    def cwnd(self) -> int: ...
    @property
    def pacing_rate_bps(self) -> int: ...
    @property
    def send_quantum(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def ssthresh(self) -> int | None: ...
    @property
    def inflight(self) -> int: ...
    @property
    def packets(self) -> list[int]: ...
    def send(self, now_ns: int, size: int | None = None, *, is_last: bool = False) -> int: ...
    def ack(self, now_ns: int, packets: Sequence[int]) -> Ack: ...
    def lose(self, now_ns: int, packets: Sequence[int]) -> None: ...
    def timeout(self, now_ns: int) -> None: ...

@final
class Connection:
    def __new__(
        cls, *, now_ns: int = 0, mss: int = 1448, initial_cwnd: int = 14480, seed: int = 1
    ) -> Connection: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def mss(self) -> int: ...
    @property
    def initial_cwnd(self) -> int: ...
    @property
    def seed(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, int]]: ...

@final
class Ack:
    def __new__(
        cls,
        *,
        now_ns: int = 0,
        newly_acked: int = 1448,
        prior_inflight: int = 1448,
        inflight: int = 0,
        rtt_ns: int | None = None,
        delivery_rate_bps: int | None = None,
        delivered: int = 1448,
        prior_delivered: int = 0,
        lost: int = 0,
        ce_marked: int = 0,
        is_app_limited: bool = False,
        is_cwnd_limited: bool = True,
        is_window_full: bool = False,
        is_progress: bool = True,
    ) -> Ack: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def newly_acked(self) -> int: ...
    @property
    def prior_inflight(self) -> int: ...
    @property
    def inflight(self) -> int: ...
    @property
    def rtt_ns(self) -> int | None: ...
    @property
    def delivery_rate_bps(self) -> int | None: ...
    @property
    def delivered(self) -> int: ...
    @property
    def prior_delivered(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def ce_marked(self) -> int: ...
    @property
    def is_app_limited(self) -> bool: ...
    @property
    def is_cwnd_limited(self) -> bool: ...
    @property
    def is_window_full(self) -> bool: ...
    @property
    def is_progress(self) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, int | bool | None]]: ...
