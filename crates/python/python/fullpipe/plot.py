"""Plots with matplotlib, in the colours of the project's figures. In a clone, ``pip install '.[plot]'`` installs them.

>>> import fullpipe, fullpipe.plot
>>> figure = fullpipe.plot.over_time(fullpipe.run("scenarios/loss-1pct.toml"))
>>> figure.savefig("loss-1pct.png")

:func:`over_time` draws a run, and :func:`over_axis` a sweep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

from ._native import Column, Record, Sweep, Table, _looks

try:
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError(
        f"fullpipe.plot: {_missing.name} is not installed; in a clone, pip install '.[plot]'", name=_missing.name
    ) from None

# Suffixes of columns, with the unit's name in plots and the divisor of the numbers.
_UNITS = {
    "_bps": ("Mbit/s", 1e6),
    "_bytes": ("kB", 1e3),
    "_ms": ("ms", 1),
    "_s": ("s", 1),
}
# The letters of names that fit into a row of the legend.
_LEGEND_WIDTH = 110
# The most steps of a curve: a picture has fewer points across.
_MAX_STEPS = 100_000
# A pause shorter than this fraction (one in so many) of the time is invisible.
_VISIBLE_PARTS = 200
_DASHES = ("solid", "dashed", "dotted")
_MARKS = ("", "o", "s", "^", "D")


def over_time(
    record: Record,
    columns: str | Sequence[str] = ("delivered", "rtt_ms", "queue_bytes"),
    *,
    step: float | None = None,
) -> Figure:
    """Draws columns over time in seconds, one plot below the other, with a curve for each flow.

    ``columns`` are columns of ``record.samples``, such as ``"rtt_ms"`` or ``"cwnd_bytes"``; columns of ``record.queue``,
    ``"queue_bytes"`` and ``"delay_ms"``, with a curve for each bottleneck; and ``"delivered"``, the rate at which payload
    arrived. That is a mean over each ``step`` seconds, by default a hundredth of the run.
    """
    if not isinstance(record, Record):
        raise TypeError(f"record: {type(record)} is the wrong type; give what fullpipe.run returns")
    figure, plots = _stacked(columns)
    for axis, column in plots:
        draw(axis, record, column, step=step)
    _legend(figure)
    plots[-1][0].set_xlabel("time in s")
    figure.suptitle(f"{record.summary['scenario']}, engine {record.summary['engine']}")
    return figure


def over_axis(sweep: Sweep, x: str, columns: str | Sequence[str] = ("flow_goodput_bps",)) -> Figure:
    """Draws columns over an axis of a sweep, one plot below the other, with a curve for each controller.

    ``x`` and ``columns`` are columns of ``sweep.flows``, such as ``"axis_path_loss"`` and ``"flow_rtt_p50_ms"``. A curve is
    the median over repeats and over flows of the controller, and the area around it goes from the least to the most. If
    the sweep varies something else too, there is a curve for each of its values.
    """
    if not isinstance(sweep, Sweep):
        raise TypeError(f"sweep: {type(sweep)} is the wrong type; give what fullpipe.sweep returns")
    figure, plots = _stacked(columns)
    for axis, column in plots:
        draw_over(axis, sweep, x, column)
    _legend(figure)
    plots[-1][0].set_xlabel(_named(x))
    figure.suptitle(f"{sweep.summary['sweep']}, engine {sweep.summary['engine']}")
    return figure


def draw_over(axis: Axes, sweep: Sweep, x: str, column: str) -> None:
    """Draws a column of :func:`over_axis` on axes of your own."""
    flows = sweep.flows
    _numbers(flows, column)
    others = [
        name
        for name in flows.column_names
        if name.startswith("axis_") and name not in (x, "axis_flow_controller") and len(set(flows[name])) > 1
    ]
    curves: dict[tuple[Any, ...], dict[Any, list[float]]] = {}
    for at, value, *key in zip(flows[x], flows[column], flows["flow_controller"], *(flows[name] for name in others)):
        if at is not None and value is not None:
            curves.setdefault(tuple(key), {}).setdefault(at, []).append(value)
    styles = _looks([controller for controller, *_ in curves])
    for (controller, *of), (name, colour, place), points in zip(curves, styles, curves.values()):
        if of:
            name = ", ".join([controller, *(f"{_label(other)} {value}" for other, value in zip(others, of))])
        xs = list(points)
        if not isinstance(xs[0], str):
            xs.sort()
        style = _style(name, colour, place) | {"marker": _MARKS[1 + place // 3 % (len(_MARKS) - 1)], "markersize": 3}
        scaled = [[value / _unit(column)[1] for value in points[at]] for at in xs]
        xs = [at if isinstance(at, str) else at / _unit(x)[1] for at in xs]
        axis.plot(xs, [median(values) for values in scaled], linewidth=1, **style)  # type: ignore[arg-type]
        if any(len(values) > 1 for values in scaled):
            least, most = [min(values) for values in scaled], [max(values) for values in scaled]
            axis.fill_between(xs, least, most, color=colour, alpha=0.15, linewidth=0)
    _frame(axis, column)


def draw(axis: Axes, record: Record, column: str, *, step: float | None = None, **style: Any) -> None:
    """Draws a column of :func:`over_time` on axes of your own. ``style`` is matplotlib's, for all curves: ``label="1 %"``."""
    if column in record.queue.column_names:
        hops = _groups(record.queue["hop"])
        for hop, rows in hops:
            looks: dict[str, object] = {
                "label": "bottleneck" if len(hops) == 1 else f"bottleneck {hop + 1}",
                "color": "#787878",
                "linestyle": _DASHES[hop % len(_DASHES)],
            }
            _curve(axis, record.queue, column, rows, **looks | style)
    else:
        flows = record.summary["flows"]
        styles = _looks([flow["controller"] for flow in flows])
        for flow, rows in _groups(record.samples["flow"]):
            name, colour, place = styles[flow]
            # Marks at about equal distances in time.
            marked = max(1, (rows.stop - rows.start) // 10)
            looks = _style(name, colour, place) | {"markevery": marked} | style
            if column == "delivered":
                _delivered(axis, record, rows, step, looks)
            else:
                _curve(axis, record.samples, column, rows, **looks)
    _frame(axis, column)


def _stacked(columns: str | Sequence[str]) -> tuple[Figure, list[tuple[Axes, str]]]:
    """Creates a plot for each of these columns."""
    columns = [columns] if isinstance(columns, str) else columns
    if not isinstance(columns, Sequence) or not all(isinstance(column, str) for column in columns):
        raise TypeError(f"columns: {columns!r} is the wrong type; give a list of names such as [\"rtt_ms\"]")
    if not columns:
        raise ValueError("columns: the list is empty; give one or more, such as [\"rtt_ms\"]")
    count = len(columns)
    figure, axes = plt.subplots(
        count, 1, sharex=True, squeeze=False, figsize=(8, 1 + 2 * count), layout="constrained"
    )
    return figure, list(zip(axes[:, 0], columns))


def _legend(figure: Figure) -> None:
    """Draws the legend below the plots, so that it covers no curve. The picture grows with it."""
    shown: dict[str, Any] = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            # A line has the mark of its flow, and steps have none.
            if label not in shown or isinstance(handle, Line2D):
                shown[label] = handle
    if not shown:
        return
    ncols = max(1, min(len(shown), _LEGEND_WIDTH // (8 + max(map(len, shown)))))
    figure.set_figheight(figure.get_figheight() + 0.2 * math.ceil(len(shown) / ncols))
    figure.legend(shown.values(), shown.keys(), loc="outside lower left", ncols=ncols, fontsize="small", frameon=False)


def _frame(axis: Axes, column: str) -> None:
    axis.set_ylabel(_named(column))
    # A later curve on the same axes may be higher.
    axis.set_ylim(bottom=0, auto=None)
    axis.grid(color="#dee0e4", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def _style(name: str, colour: str, place: int) -> dict[str, object]:
    return {
        "label": name,
        "color": colour,
        "linestyle": _DASHES[place % 3],
        "marker": _MARKS[place // 3 % len(_MARKS)],
    }


def _curve(axis: Axes, table: Table, column: str, rows: slice, **style: object) -> None:
    _, divisor = _unit(column)
    times = np.asarray(table["at_s"])[rows]
    values = _numbers(table, column)[rows] / divisor
    if "rtt_ms" in table.column_names:
        times, values = _paused(times, values, np.asarray(table["rtt_ms"])[rows] / 1e3)
    axis.plot(times, values, **{"linewidth": 1} | style)  # type: ignore[arg-type]


def _paused(times: Any, values: Any, rtts: Any) -> tuple[Any, Any]:
    """The curve, interrupted where no ACK arrived for two round trips if that is visible; as on the project's pages."""
    apart = np.diff(times)
    seen = (times[-1] - times[0]) / _VISIBLE_PARTS if len(times) else 0
    pauses = np.flatnonzero((apart > seen) & (apart > 2 * np.nan_to_num(rtts[:-1]))) + 1
    return np.insert(times, pauses, times[pauses - 1]), np.insert(values.astype(float), pauses, np.nan)


def _numbers(table: Table, column: str) -> Any:
    numbers = np.asarray(table[column])
    if not np.issubdtype(numbers.dtype, np.number):
        raise ValueError(f"columns: {column} has no numbers; give another")
    return numbers


def _delivered(axis: Axes, record: Record, rows: slice, step: float | None, style: dict[str, object]) -> None:
    end = record.summary["duration_s"]
    if step is not None and not isinstance(step, (int, float)):
        raise TypeError(f"step: {step!r} is the wrong type; give seconds")
    if step is not None and not end / _MAX_STEPS <= step <= end:
        raise ValueError(f"step: {step} is out of range; give seconds, from {end / _MAX_STEPS:g} to {end:g}")
    edges = np.arange(0, end + 1e-9, step or end / 100)
    times = np.asarray(record.samples["at_s"])[rows]
    delivered = np.asarray(record.samples["delivered_bytes"])[rows]
    # The bytes delivered by each time: none before the first sample.
    last = np.searchsorted(times, edges, side="right") - 1
    by = np.where(last >= 0, delivered[np.maximum(last, 0)], 0)
    rates = np.diff(by) * 8 / np.diff(edges) / 1e6
    looks = {"linewidth": 1.2} | {key: value for key, value in style.items() if not key.startswith("mark")}
    axis.stairs(rates, edges, baseline=None, **looks)  # type: ignore[arg-type]


def _groups(column: Column) -> list[tuple[int, slice]]:
    """The rows of each flow or hop, which are contiguous."""
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
    return column.removeprefix("axis_").removeprefix("flow_").replace("_", " ")


def _named(column: str) -> str:
    """The title of an axis."""
    unit, _ = _unit(column)
    return _label(column) + (f" in {unit}" if unit else "")
