"""Sweeps and evaluations on a cluster of Ray (https://ray.io)."""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any, Callable

import ray
import ray.exceptions

from . import _native
from ._errors import EngineError

# The intended duration of a task in seconds: long beside Ray's cost of a task, and little to lose with a worker.
TASK_S = 1.0

# The most runs in a task.
MAX_RUNS = 100

# The number of times that a task is given to another worker if its worker is lost.
MAX_RETRIES = 5

# The interval in seconds at which the cluster's processors are counted, since it may grow meanwhile.
LOOK_S = 1.0

# The time in seconds without processors after which a warning is given.
EMPTY_S = 5.0

# The time in seconds that workers have to stop when the work is cancelled.
CANCEL_TIMEOUT_S = 10.0


def drive(
    grid: _native._Grid | _native._Evaluating,
    jobs: int | None,
    tell: Callable[[int, int, float], object] | None,
) -> None:
    """Gives the missing runs of the grid, or of an evaluation, to workers, some at a time."""
    if not grid.missing:
        if tell is not None:
            tell(0, 0, 1.0)
        return
    if not ray.is_initialized():
        ray.init(logging_level=logging.WARNING)
    cluster = _Cluster()
    works = _evaluate if isinstance(grid, _native._Evaluating) else _work
    work: Any = ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(works)
    flying: dict[Any, int] = {}
    ended, size = 0, 1
    try:
        while True:
            # Each worker has another task waiting, so that none is idle.
            most = jobs or 2 * max(1, cluster.processors())
            while len(flying) < most and (task := grid.task(size)) is not None:
                said, count = task
                flying[work.remote(*said)] = count
            if not flying:
                return
            done, _ = ray.wait(list(flying), timeout=0.2)
            for one in done:
                count = flying.pop(one)
                seconds = grid.take(_report(one))
                ended += count
                # Tasks become shorter at the end, so that all workers end together.
                fair = (grid.missing - ended) // (2 * most)
                size = max(1, min(MAX_RUNS, fair, int(TASK_S * count / max(seconds, 1e-3))))
                if tell is not None:
                    tell(ended, grid.missing, ended / grid.missing)
    finally:
        for one in flying:
            ray.cancel(one)
        if flying:
            ray.wait(list(flying), num_returns=len(flying), timeout=CANCEL_TIMEOUT_S)


class _Cluster:
    """Counts the cluster's processors, and warns if there are none."""

    def __init__(self) -> None:
        self._count = 0
        self._looked = float("-inf")
        self._seen = time.monotonic()
        self._told = False

    def processors(self) -> int:
        now = time.monotonic()
        if now - self._looked >= LOOK_S:
            self._looked = now
            # Ray declares no type for it.
            resources: Any = ray.cluster_resources
            self._count = int(resources().get("CPU", 0))
            if self._count > 0:
                self._seen = now
            elif now - self._seen >= EMPTY_S and not self._told:
                self._told = True
                message = "executor: the cluster of Ray has no processors; the runs wait until it has some"
                warnings.warn(message, RuntimeWarning, stacklevel=3)
        return self._count


def _work(task: str) -> str:
    return _native._work(task)


def _evaluate(order: str, controller: object) -> str:
    return _native._evaluate(order, controller)


def _report(task: Any) -> str:
    try:
        report: str = ray.get(task)
        return report
    except ray.exceptions.RayTaskError as error:
        # Ray's message when a worker cannot load its function.
        if "failed to import on the worker" in str(error.cause):
            message = "executor: a worker cannot import fullpipe; install the same wheel on all machines"
            raise EngineError(message) from None
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        is_lost = isinstance(error, (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError))
        how = f"lost a task with its worker, {MAX_RETRIES + 1} times" if is_lost else "gave up a task"
        raise EngineError(f"executor: Ray {how}: {reason}; with out, completed runs are kept") from None
