"""Plots have the project's colours."""

import fullpipe
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import fullpipe.plot  # noqa: E402


def test_every_flow_has_a_curve_in_its_controllers_colour(scenario, tmp_path):
    record = fullpipe.run(scenario)
    figure = fullpipe.plot.over_time(record, ("delivered", "rtt_ms", "queue_bytes"))
    delivered, rtt, queue = figure.axes
    colours = {line.get_label(): line.get_color() for line in rtt.get_lines()}
    assert colours == {"bbr1": "#009E73", "cubic": "#D55E00"}
    assert [label.get_text() for label in delivered.get_legend().get_texts()] == ["bbr1", "cubic"]
    assert (rtt.get_ylabel(), queue.get_ylabel()) == ("rtt in ms", "queue in kB")
    assert len(queue.get_lines()) == 1
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_what_is_drawn_as_delivered_adds_up(scenario):
    record = fullpipe.run(scenario)
    figure = fullpipe.plot.over_time(record, ("delivered",), step=0.5)
    drawn = [patch.get_data() for patch in figure.axes[0].patches]
    for flow, steps in zip(record.summary["flows"], drawn):
        by_rate = sum(steps.values) * 0.5 * 1e6 / 8
        # The last packets' ACKs are still on their way.
        assert by_rate == pytest.approx(flow["delivered_bytes"], rel=0.03)
