"""Plots have the project's colours."""

import subprocess
import sys

import fullpipe
import pytest
from test_sweep import GRID

matplotlib = pytest.importorskip("matplotlib")
numpy = pytest.importorskip("numpy")
matplotlib.use("Agg")

import fullpipe.plot  # noqa: E402


def test_every_flow_has_a_curve_in_its_controllers_colour(scenario, tmp_path):
    record = fullpipe.run(scenario)
    figure = fullpipe.plot.over_time(record, ("delivered", "rtt_ms", "queue_bytes"))
    delivered, rtt, queue = figure.axes
    colours = {line.get_label(): line.get_color() for line in rtt.get_lines()}
    assert colours == {"bbr1": "#009E73", "cubic": "#D55E00"}
    assert [label.get_text() for label in figure.legends[0].get_texts()] == ["bbr1", "cubic", "bottleneck"]
    assert (rtt.get_ylabel(), queue.get_ylabel()) == ("rtt in ms", "queue in kB")
    assert len(queue.get_lines()) == 1
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_a_curve_pauses_where_nothing_was_heard():
    times = [0.0, 0.05, 0.1, 5.0, 5.05]
    at, values = fullpipe.plot._paused(*(numpy.asarray(column) for column in (times, [8] * 5, [0.04] * 5)))
    assert at.tolist() == [0.0, 0.05, 0.1, 0.1, 5.0, 5.05]
    assert [value != value for value in values] == [False, False, False, True, False, False]


def test_what_is_drawn_as_delivered_adds_up(scenario):
    record = fullpipe.run(scenario)
    figure = fullpipe.plot.over_time(record, ("delivered",), step=0.5)
    drawn = [patch.get_data() for patch in figure.axes[0].patches]
    for flow, steps in zip(record.summary["flows"], drawn):
        by_rate = sum(steps.values) * 0.5 * 1e6 / 8
        # The last packets' ACKs are still on their way.
        assert by_rate == pytest.approx(flow["delivered_bytes"], rel=0.03)


def test_a_sweep_has_a_curve_for_each_controller_over_its_axis():
    sweep = fullpipe.sweep(GRID)
    figure = fullpipe.plot.over_axis(sweep, "axis_path_loss", ("flow_goodput_bps", "flow_rtt_p50_ms"))
    goodput, rtt = figure.axes
    curves = {line.get_label(): line for line in goodput.get_lines()}
    assert {name: line.get_color() for name, line in curves.items()} == {"bbr1": "#009E73", "cubic": "#D55E00"}
    assert (goodput.get_ylabel(), rtt.get_ylabel(), rtt.get_xlabel()) == ("goodput in Mbit/s", "rtt p50 in ms", "path loss")
    assert list(curves["bbr1"].get_xdata()) == [0, 0.01, 0.05]
    both = [
        bps / 1e6
        for bps, loss, name in zip(
            sweep.flows["flow_goodput_bps"], sweep.flows["axis_path_loss"], sweep.flows["flow_controller"]
        )
        if name == "cubic" and loss == 0.05
    ]
    assert len(both) == 2 and curves["cubic"].get_ydata()[-1] == pytest.approx(sum(both) / 2)
    area = goodput.collections[1].get_paths()[0].vertices
    assert {min(both), max(both)} <= {y for x, y in area.tolist() if x == 0.05}


def test_what_else_a_sweep_varies_has_curves_of_its_own():
    axes = {"path.rtt": ["20ms", "80ms"], "path.buffer": ["1bdp", "2bdp"]}
    sweep = fullpipe.sweep(GRID | {"axes": axes, "repeats": 1})
    figure = fullpipe.plot.over_axis(sweep, "axis_path_rtt_ms")
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["bbr1, path buffer bdp 1.0", "bbr1, path buffer bdp 2.0"]
    assert [list(line.get_xdata()) for line in lines] == [[20, 80]] * 2
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 2
    texts = fullpipe.sweep(GRID | {"axes": {"path.queue": ["droptail", "codel"]}})
    axis = fullpipe.plot.over_axis(texts, "axis_path_queue").axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["droptail", "codel"]


def test_wrong_columns_are_answered(scenario):
    record, sweep = fullpipe.run(scenario), fullpipe.sweep(GRID)
    assert len(fullpipe.plot.over_time(record, "rtt_ms").axes) == 1
    for draw in (
        lambda: fullpipe.plot.over_time(record, ["rtt"]),
        lambda: fullpipe.plot.over_axis(sweep, "path.loss"),
        lambda: fullpipe.plot.over_axis(sweep, "axis_path_loss", "goodput"),
    ):
        with pytest.raises(KeyError, match="there are .*_ms"):
            draw()
    with pytest.raises(KeyError, match="did you mean axis_path_loss[?]"):
        fullpipe.plot.over_axis(sweep, "path.loss")
    with pytest.raises(ValueError, match="^columns: .*give one"):
        fullpipe.plot.over_time(record, ())
    for columns in (5, [5], None):
        with pytest.raises(TypeError, match="^columns: .*give a list of names"):
            fullpipe.plot.over_time(record, columns)
    for draw in (
        lambda: fullpipe.plot.over_time(record, "state"),
        lambda: fullpipe.plot.over_axis(sweep, "axis_path_loss", "flow_controller"),
    ):
        with pytest.raises(ValueError, match="^columns: .* has no numbers"):
            draw()
    with pytest.raises(TypeError, match="^record: .*fullpipe.run"):
        fullpipe.plot.over_time(sweep)
    with pytest.raises(TypeError, match="^sweep: .*fullpipe.sweep"):
        fullpipe.plot.over_axis(record, "axis_path_loss")
    with pytest.raises(TypeError, match="^step: "):
        fullpipe.plot.over_time(record, step="a")
    for step in (-1, 0, 1e-9, 1e9, float("nan")):
        with pytest.raises(ValueError, match="^step: .*give seconds"):
            fullpipe.plot.over_time(record, step=step)
    matplotlib.pyplot.close("all")


def test_where_matplotlib_is_missing_one_line_says_what_to_install():
    code = "import sys; sys.modules['matplotlib'] = None; import fullpipe.plot"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert failed.stderr.splitlines()[-1].endswith("is not installed; in a clone, pip install '.[plot]'")


def test_what_is_drawn_later_is_seen_too(scenario):
    slow, fast = fullpipe.run(scenario), fullpipe.run(scenario, set={"path.rate": "100mbit"})
    figure, axis = matplotlib.pyplot.subplots()
    fullpipe.plot.draw(axis, slow, "delivered", label="slow")
    top = axis.get_ylim()[1]
    fullpipe.plot.draw(axis, fast, "delivered", label="fast", color="black")
    assert axis.get_ylim()[1] > 2 * top and axis.get_ylim()[0] == 0
    assert {"slow", "fast"} <= set(axis.get_legend_handles_labels()[1])
    matplotlib.pyplot.close("all")


def test_many_curves_leave_room_for_the_plot(tmp_path):
    many = {"path.rtt": ["10ms", "20ms", "40ms"], "path.buffer": ["1bdp", "2bdp", "4bdp"]}
    sweep = fullpipe.sweep(GRID | {"axes": GRID["axes"] | many, "repeats": 1})
    figure = fullpipe.plot.over_axis(sweep, "axis_path_loss")
    figure.savefig(tmp_path / "plot.png")
    plot = figure.axes[0].get_position()
    assert plot.width > 0.8 and plot.height * figure.get_figheight() > 1.5
    matplotlib.pyplot.close("all")
