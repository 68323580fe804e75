"""Controllers that are written in Python."""

import fullpipe
import pytest
from fullpipe.reno import Reno

# Losses of every kind, marks, timeouts, reordering, idle times and more than one packet size: paths that take every branch.
PATHS = {
    "plain": {},
    "loss": {"path.loss": "1%", "path.ack_loss": "1%"},
    "heavy-loss": {"path.loss": "12%"},
    "bursts": {"path.loss": {"kind": "gilbert", "p": "0.2%", "r": "10%"}},
    "reordering": {"path.reorder": {"share": "2%", "by": "15ms"}},
    "jitter": {"path.jitter": {"up_to": "80ms", "reorders": True}, "path.loss": "0.5%"},
    "marks": {"host.ecn": True, "path.queue": {"kind": "codel", "ecn": True}, "path.loss": "0.2%"},
    "fifo": {"host.scheduler": "pacing", "path.buffer": "20p"},
    "dupacks": {"host.loss_detection": "dupacks", "path.loss": "2%"},
    "outage": {"path.change": [{"at": "2s", "rate": "20kbit"}, {"at": "6s", "rate": "10mbit"}]},
    "delay": {"path.change": [{"at": "3s", "rtt": "900ms"}, {"at": "6s", "rtt": "40ms"}]},
    "pauses": {"flow.0.app": {"kind": "requests", "response": "300kb", "think": "900ms"}},
    "objects": {"flow.0.app": {"kind": "poisson", "interval": "200ms", "sizes": "60kb"}},
}


@pytest.fixture
def scenario():
    return {
        "name": "twins",
        "duration": "10s",
        "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "1bdp"},
        "flow": [{"controller": "reno"}, {"controller": "bbr1", "start": "3s", "bytes": "2mb"}],
    }


def rows(record):
    """Every sample without the controller's name, which differs."""
    names = [name for name in record.samples.column_names if name != "controller"]
    return list(zip(*(record.samples[name] for name in names)))


@pytest.mark.parametrize("path", PATHS)
def test_reno_in_python_is_reno_in_rust_event_by_event(scenario, path):
    rust = fullpipe.run(scenario, set=PATHS[path])
    python = fullpipe.run(scenario, set=PATHS[path] | {"flow.0.controller": Reno})
    assert len(rust.samples) > 100
    for place, (one, other) in enumerate(zip(rows(rust), rows(python))):
        assert one == other, f"sample {place}"
    assert len(rust.samples) == len(python.samples)
    assert list(rust.queue["queue_bytes"]) == list(python.queue["queue_bytes"])


def test_its_record_has_the_name_of_its_class(scenario):
    record = fullpipe.run(scenario | {"flow": [fullpipe.Flow(Reno)]})
    assert record.summary["flows"][0]["controller"] == "python:Reno"
    assert set(record.samples["controller"]) == {"python:Reno"}
    with pytest.raises(fullpipe.ScenarioError, match="class of Python's") as raised:
        fullpipe.run(record.scenario)
    assert raised.value.field == "flow.controller"
    again = fullpipe.run(record.scenario, set={"flow.controller": Reno})
    assert again.summary["flows"] == record.summary["flows"]


def test_a_controller_needs_no_more_than_on_ack(scenario):
    class Fixed:
        def __init__(self, connection):
            self.mss = connection.mss

        def on_ack(self, ack):
            return 20.5 * self.mss, 5e6

    record = fullpipe.run(scenario, set={"flow.0.controller": Fixed})
    windows = [
        row for row, flow in zip(record.samples["cwnd_bytes"], record.samples["flow"]) if flow == 0
    ]
    assert set(windows) == {int(20.5 * 1448)}
    assert 4.0e6 < record.summary["flows"][0]["goodput_bps"] < 5.0e6


def test_what_a_handler_raises_ends_the_run(scenario):
    class Broken(Reno):
        def on_recovery(self, *event):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as raised:
        fullpipe.run(scenario, set={"flow.0.controller": Broken})
    assert raised.traceback[-1].name == "on_recovery"


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (None, TypeError, r"on_ack: .*return \(cwnd in bytes, pacing rate in bit/s\)"),
        (7, TypeError, "on_ack"),
        (("wide", 1e6), TypeError, "on_ack"),
        ("ab", TypeError, "on_ack"),
        ((14480, 1e6, 1), TypeError, "on_ack"),
        ({14480: 1e6, 1: 2}, TypeError, "on_ack"),
        ((-1, 1e6), ValueError, "on_ack: .*out of range"),
        ((2**64, 1e6), ValueError, "on_ack: .*out of range"),
        ((2**2000, 1e6), ValueError, "on_ack: .*out of range"),
        ((14480, float("nan")), ValueError, "on_ack: .*out of range"),
        ((0, 1e6), ValueError, "less than a packet; give at least 1448"),
        ((14480, 0), ValueError, "give a pacing rate of 8 or more"),
    ],
)
def test_what_makes_no_sense_is_answered(scenario, said, kind, words):
    class Wrong:
        def __init__(self, connection):
            pass

        def on_ack(self, ack):
            return said

    with pytest.raises(kind, match=words):
        fullpipe.run(scenario, set={"flow.0.controller": Wrong})


def test_wrong_classes_are_answered(scenario):
    class Stateful(Reno):
        state = "Sleeping"

    with pytest.raises(ValueError, match="state: Sleeping is not a state of a controller; give one of Startup"):
        fullpipe.run(scenario, set={"flow.0.controller": Stateful})
    with pytest.raises(AttributeError, match="^on_ack: .*add on_ack"):
        fullpipe.run(scenario, set={"flow.0.controller": type("Empty", (), {"__init__": lambda *_: None})})
    other = type("Reno", (Reno,), {})
    with pytest.raises(TypeError, match="the name of another controller"):
        fullpipe.run(scenario, set={"flow.0.controller": Reno, "flow.1.controller": other})
    for engine in ("quic", "linux"):
        with pytest.raises(fullpipe.ScenarioError, match='give engine="sim"') as raised:
            fullpipe.run(scenario, engine=engine, set={"flow.0.controller": Reno})
        assert raised.value.field == "flow.controller"
    made = Reno(fullpipe.Connection(mss=1000))
    with pytest.raises(TypeError, match="^controller: .*give the class itself"):
        fullpipe.run(scenario, set={"flow.0.controller": made})
    with pytest.raises(fullpipe.ScenarioError, match="letters, digits"):
        fullpipe.run(scenario, set={"flow.0.controller": lambda connection: Reno(connection)})


def test_runs_inside_their_own_controllers_end(scenario):
    made = []

    class Nested(Reno):
        def __init__(self, connection):
            super().__init__(connection)
            made.append(self)

        def on_ack(self, ack):
            if len(made) < 1000:
                fullpipe.run(scenario, set={"flow.0.controller": Nested})
            return super().on_ack(ack)

    with pytest.raises(RecursionError, match="^controller: 16 runs are nested"):
        fullpipe.run(scenario, set={"flow.0.controller": Nested})
    assert len(made) == 16
    # One run in another is not too many, and runs that have ended do not count.
    made[:] = [None] * 998
    fullpipe.run(scenario, set={"flow.0.controller": Nested})


def of_class(**attributes):
    """A controller with these attributes beside what it needs."""
    needed = {"__init__": lambda self, connection: None, "on_ack": lambda self, ack: (14480, 1e6)}
    return type("Made", (), needed | attributes)


@pytest.mark.parametrize("said", ["abc", -1, float("nan"), 2**80, [1]])
def test_a_threshold_that_makes_no_sense_is_answered(scenario, said):
    with pytest.raises((TypeError, ValueError), match="^ssthresh: .*give bytes"):
        fullpipe.run(scenario, set={"flow.0.controller": of_class(ssthresh=said)})


def test_a_threshold_may_be_none_or_a_number_of_numpys(scenario):
    np = pytest.importorskip("numpy")
    for said, shown in [(None, None), (np.int64(3000), 3000), (3000.5, 3000)]:
        record = fullpipe.run(scenario, set={"flow.0.controller": of_class(ssthresh=said)})
        assert record.samples["ssthresh_bytes"][0] == shown


@pytest.mark.parametrize("attribute", [{"on_ack": 5}, {"on_loss": "x"}, {"state": 5}])
def test_attributes_of_the_wrong_type_are_answered(scenario, attribute):
    (name, _), = attribute.items()
    with pytest.raises(TypeError, match=f"^{name}: "):
        fullpipe.run(scenario, set={"flow.0.controller": of_class(**attribute)})


def test_any_sequence_of_two_is_an_answer(scenario):
    np = pytest.importorskip("numpy")
    answers = [(28960, 4e6), [28960, 4e6], np.array([28960, 4e6]), (np.int64(28960), np.float32(4e6))]
    records = [
        fullpipe.run(scenario, set={"flow.0.controller": of_class(on_ack=lambda self, ack, said=said: said)})
        for said in answers
    ]
    assert all(rows(record) == rows(records[0]) for record in records)


def test_a_controller_is_tested_alone():
    reno = Reno(fullpipe.Connection(mss=1000, initial_cwnd=10_000))
    cwnd, _ = reno.on_ack(fullpipe.Ack(now_ns=40_000_000, newly_acked=2000, rtt_ns=40_000_000))
    assert cwnd == 12_000
    assert reno.on_recovery(50_000_000, "loss", 9000)[0] == 6000
    ack = fullpipe.Ack(newly_acked=2000, is_progress=False)
    assert eval(repr(ack)).newly_acked == 2000 and not eval(repr(ack)).is_progress
    connection = fullpipe.Connection(seed=7)
    assert repr(eval(repr(connection))) == repr(connection)


def test_a_class_without_init_needs_none(scenario):
    class NoInit:
        def on_ack(self, ack):
            return 20_000, 1e6

    assert fullpipe.run(scenario, set={"flow.0.controller": NoInit}).summary["flows"][0]["goodput_bps"] > 0
