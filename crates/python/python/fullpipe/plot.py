"""Plots with matplotlib, in the colours of the project's figures. They need ``pip install fullpipe[plot]``.

>>> import fullpipe, fullpipe.plot
>>> figure = fullpipe.plot.over_time(fullpipe.run("scenarios/loss-1pct.toml"))
>>> figure.savefig("loss-1pct.png")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ._native import Column, Record, Table, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Names of units in columns: what they are called, and what the numbers are divided by.
_UNITS = {
    "_bps": ("Mbit/s", 1e6),
    "_bytes": ("kB", 1e3),
    "_ms": ("ms", 1),
    "_s": ("s", 1),
}
_DASHES = ("solid", "dashed", "dotted")
_MARKS = ("", "o", "s", "^", "D")


def over_time(
    record: Record,
    columns: Sequence[str] = ("delivered", "rtt_ms", "queue_bytes"),
    *,
    step: float | None = None,
) -> Figure:
    """One plot below the other, over time in seconds, with a curve for each flow.

    ``columns`` are columns of ``record.samples``, such as ``"rtt_ms"`` or ``"cwnd_bytes"``; columns of ``record.queue``,
    ``"queue_bytes"`` and ``"delay_ms"``, with a curve for each bottleneck; and ``"delivered"``, the rate at which payload
    arrived. That is a mean over each ``step`` seconds; a hundredth of the run if not given.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(columns), 1, sharex=True, squeeze=False, figsize=(8, 1 + 2 * len(columns)), layout="constrained"
    )
    for axis, column in zip(axes[:, 0], columns):
        draw(axis, record, column, step=step)
    axes[0, 0].legend(loc="upper right", fontsize="small")
    axes[-1, 0].set_xlabel("time in s")
    figure.suptitle(f"{record.summary['scenario']}, engine {record.summary['engine']}")
    return figure


def draw(axis: Axes, record: Record, column: str, *, step: float | None = None) -> None:
    """Draws a column of :func:`over_time` on axes of your own."""
    if column in record.queue.column_names:
        for hop, rows in _groups(record.queue["hop"]):
            _curve(axis, record.queue, column, rows, label=f"hop {hop}", color="#787878")
    else:
        flows = record.summary["flows"]
        styles = looks([flow["controller"] for flow in flows])
        for flow, rows in _groups(record.samples["flow"]):
            name, colour, place = styles[flow]
            style = {
                "label": name,
                "color": colour,
                "linestyle": _DASHES[place % 3],
                "marker": _MARKS[place // 3 % len(_MARKS)],
                "markevery": 0.1,
            }
            if column == "delivered":
                _delivered(axis, record, rows, step, style)
            else:
                _curve(axis, record.samples, column, rows, **style)
    unit, _ = _unit(column)
    axis.set_ylabel(_label(column) + (f" in {unit}" if unit else ""))
    axis.set_ylim(bottom=0)
    axis.grid(color="#dee0e4", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def _curve(axis: Axes, table: Table, column: str, rows: slice, **style: object) -> None:
    _, divisor = _unit(column)
    times = np.asarray(table["at_s"])[rows]
    values = np.asarray(table[column])[rows] / divisor
    axis.plot(times, values, linewidth=1, **style)  # type: ignore[arg-type]


def _delivered(axis: Axes, record: Record, rows: slice, step: float | None, style: dict[str, object]) -> None:
    end = record.summary["duration_s"]
    edges = np.arange(0, end + 1e-9, step or end / 100)
    times = np.asarray(record.samples["at_s"])[rows]
    delivered = np.asarray(record.samples["delivered_bytes"])[rows]
    # What had been delivered by each time: nothing before the first sample.
    last = np.searchsorted(times, edges, side="right") - 1
    by = np.where(last >= 0, delivered[np.maximum(last, 0)], 0)
    rates = np.diff(by) * 8 / np.diff(edges) / 1e6
    axis.stairs(rates, edges, baseline=None, linewidth=1.2, **{k: v for k, v in style.items() if not k.startswith("mark")})  # type: ignore[arg-type]


def _groups(column: Column) -> list[tuple[int, slice]]:
    """The rows of each flow or hop, which follow each other."""
    keys = np.asarray(column)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    ends = np.append(starts[1:], len(keys))
    return [(int(keys[start]), slice(start, end)) for start, end in zip(starts, ends)]


def _unit(column: str) -> tuple[str, float]:
    if column == "delivered":
        return "Mbit/s", 1e6
    return next((unit for ending, unit in _UNITS.items() if column.endswith(ending)), ("", 1))


def _label(column: str) -> str:
    for ending in _UNITS:
        column = column.removesuffix(ending)
    return column.replace("_", " ")
