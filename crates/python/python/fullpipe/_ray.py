"""Sweeps on a cluster of Ray (https://ray.io)."""

from __future__ import annotations

from typing import Callable

import ray

from . import _native
from ._errors import EngineError

# A task takes about so many seconds: long beside what Ray costs for each task, and little to lose with a worker.
TASK_S = 1.0

# So many runs in a task at most.
MOST = 100

# So often a task is given to another worker if its worker is lost.
RETRIES = 5

# How long workers have to give up what they do when a sweep is ended, in seconds.
PATIENCE_S = 10.0


def drive(grid: _native._Grid, jobs: int | None, tell: Callable[[int, int, float], object] | None) -> None:
    """Gives the runs of the grid that are missing to workers, some at a time."""
    if not grid.missing:
        return
    if not ray.is_initialized():
        ray.init(logging_level="warning")
    processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
    # Each worker has a task that waits, so that none waits for a task.
    most = jobs or 2 * processors
    work = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
    flying: dict[ray.ObjectRef, int] = {}
    ended, size = 0, 1
    try:
        while True:
            while len(flying) < most and (task := grid.task(size)) is not None:
                text, count = task
                flying[work.remote(text)] = count
            if not flying:
                return
            done, _ = ray.wait(list(flying), timeout=0.2)
            for one in done:
                count = flying.pop(one)
                seconds = grid.take(_report(one))
                ended += count
                # In the end, no worker has a long task alone.
                fair = (grid.missing - ended) // (2 * most)
                size = max(1, min(MOST, fair, int(TASK_S * count / max(seconds, 1e-3))))
                if tell is not None:
                    tell(ended, grid.missing, ended / grid.missing)
    finally:
        for one in flying:
            ray.cancel(one)
        if flying:
            ray.wait(list(flying), num_returns=len(flying), timeout=PATIENCE_S)


def _work(task: str) -> str:
    return _native.work(task)


def _report(task: ray.ObjectRef) -> str:
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = str(error).splitlines()[0]
        message = f"executor: a task was lost with its worker, {RETRIES + 1} times: {reason}; what is done is kept in out"
        raise EngineError(message) from None
