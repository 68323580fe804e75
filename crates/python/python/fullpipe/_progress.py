"""The progress of runs as a line of text."""

from __future__ import annotations

import sys
import time


class Bar:
    """One line on stderr: the number of ended runs, and the remaining time."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = -1

    def __call__(self, ended: int, runs: int, share: float) -> None:
        # A program without a terminal may have no stderr.
        if sys.stderr is None:
            return
        if runs == 0:
            print("nothing to run: all runs are done", file=sys.stderr, flush=True)
            return
        is_last = ended == runs
        percent = int(100 * share)
        # A file keeps every line, so a few are enough.
        step = 1 if sys.stderr.isatty() else 10
        if not is_last and percent // step == self._shown:
            return
        self._shown = percent // step
        taken = time.monotonic() - self._began
        left = f", {_span(taken / share - taken)} left" if 0 < share < 1 else ""
        end = "\n" if is_last else ""
        print(f"\r{ended} of {runs} runs, {percent} %{left}   ", end=end, file=sys.stderr, flush=True)


def _span(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}" if minutes else f"{seconds} s"
