"""Controllers that are driven event by event."""

import copy
import gc
import pickle
import random
import weakref

import fullpipe
import pytest
from fullpipe.reno import Reno

MS = 1_000_000


def driven(controller, seconds=3, loss=0.0, rate=10e6, rtt=40 * MS):
    """A bottleneck of this rate; what can be seen of the controller after every event."""
    sender = fullpipe.Sender(controller)
    chance = random.Random(3)
    seen, arrivals, now, free, next_send = [], [], 0, 0, 0
    while now < seconds * 1000 * MS:
        now += MS // 10
        while arrivals and arrivals[0][0] <= now:
            _, packet, is_lost = arrivals.pop(0)
            if is_lost:
                sender.lose(now, [packet])
            else:
                sender.ack(now, [packet])
            seen.append((sender.cwnd, sender.pacing_rate_bps, sender.state, sender.ssthresh))
        while now >= next_send and sender.inflight + 1448 <= sender.cwnd:
            packet = sender.send(now)
            free = max(free, now) + int(1448 * 8 / rate * 1e9)
            arrivals.append((free + rtt, packet, chance.random() < loss))
            next_send = now + 1448 * 8 * 1000 * MS // sender.pacing_rate_bps
    return sender, seen


@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_reno_in_python_says_what_reno_in_rust_says(loss):
    _, rust = driven("reno", loss=loss)
    _, python = driven(Reno, loss=loss)
    assert len(rust) > 500
    assert python == rust


def test_bbr_finds_the_rate_and_goes_through_its_states():
    sender, seen = driven("bbr1")
    states = list(dict.fromkeys(state for _, _, state, _ in seen))
    assert states == ["Startup", "Drain", "ProbeBW"]
    rates = [rate for _, rate, _, _ in seen[-500:]]
    assert 7e6 < min(rates) and max(rates) < 13e6
    assert "in ProbeBW" in repr(sender)


def test_a_timeout_takes_everything_for_lost():
    sender = fullpipe.Sender("cubic")
    packets = [sender.send(MS) for _ in range(5)]
    assert sender.packets == packets and sender.inflight == 5 * 1448
    sender.timeout(1000 * MS)
    assert (sender.packets, sender.inflight) == ([], 0)
    assert sender.cwnd == 1448


def test_what_makes_no_sense_is_answered():
    with pytest.raises(fullpipe.ScenarioError, match="bbr1") as raised:
        fullpipe.Sender("bbr9")
    assert raised.value.field == "controller"
    with pytest.raises(TypeError, match="^controller: .*give a name"):
        fullpipe.Sender(5)
    for field, size in [("mss", 0), ("mss", 2**40), ("initial_cwnd", 2**63)]:
        with pytest.raises(fullpipe.ScenarioError) as raised:
            fullpipe.Sender("reno", fullpipe.Connection(**{field: size}))
        assert raised.value.field == field
    sender = fullpipe.Sender("bbr3")
    first = sender.send(MS)
    for packets in ([], [7], [first, -1]):
        with pytest.raises(fullpipe.ScenarioError) as raised:
            sender.ack(2 * MS, packets)
        assert raised.value.field == "packets"
    with pytest.raises(TypeError, match="^packets: "):
        sender.lose(2 * MS, 7)
    for size in (0, 2**60):
        with pytest.raises(fullpipe.ScenarioError, match="size"):
            sender.send(2 * MS, size)
    sender.ack(2 * MS, [first, first])
    with pytest.raises(ValueError, match="does not run backwards; give 2000000"):
        sender.send(MS)


@pytest.mark.parametrize(
    ("make", "field", "kind"),
    [
        (lambda: fullpipe.Ack(now_ns=-1), "now_ns", fullpipe.ScenarioError),
        (lambda: fullpipe.Ack(rtt_ns=2**64), "rtt_ns", fullpipe.ScenarioError),
        (lambda: fullpipe.Ack(delivered="x"), "delivered", TypeError),
        (lambda: fullpipe.Ack(is_progress="x"), "is_progress", TypeError),
        (lambda: fullpipe.Ack(rtt=1), "rtt", TypeError),
        (lambda: fullpipe.Connection(mss=1.5), "mss", TypeError),
        (lambda: fullpipe.Sender("bbr1", "x"), "connection", TypeError),
        (lambda: fullpipe.Sender("bbr1").send(0, is_last="x"), "is_last", TypeError),
        (lambda: fullpipe.Sender("bbr1").send(-1), "now_ns", fullpipe.ScenarioError),
    ],
)
def test_wrong_fields_are_named_with_the_fix(make, field, kind):
    with pytest.raises(kind, match=f"^{field}: .*give ") as raised:
        make()
    assert kind is TypeError or raised.value.field == field


def test_numbers_of_numpys_are_fields():
    np = pytest.importorskip("numpy")
    ack = fullpipe.Ack(now_ns=np.int64(5), rtt_ns=None, is_progress=np.bool_(False))
    assert (ack.now_ns, ack.rtt_ns, ack.is_progress, ack.newly_acked) == (5, None, False, 1448)


def test_what_a_controller_raises_is_raised():
    class Broken(Reno):
        def on_sent(self, *event):
            raise ZeroDivisionError("mine")

    sender = fullpipe.Sender(Broken)
    with pytest.raises(ZeroDivisionError, match="mine"):
        sender.send(0)
    with pytest.raises(fullpipe.EngineError, match="make another"):
        sender.send(0)


def test_what_a_controller_is_told_can_be_kept():
    for told in (fullpipe.Ack(rtt_ns=40_000_000, is_progress=False), fullpipe.Connection(mss=1200, seed=3)):
        kept = pickle.loads(pickle.dumps(told))
        assert type(kept) is type(told) and repr(kept) == repr(told)
        assert repr(copy.deepcopy(told)) == repr(told)


def test_a_controller_that_has_its_sender_goes_with_it():
    class Kept:
        def __init__(self, connection):
            made.append(self)

        def on_ack(self, ack):
            return 20_000, 1e6

    made = []
    sender = fullpipe.Sender(Kept)
    made[0].sender = sender
    gone = weakref.ref(made.pop())
    del sender
    gc.collect()
    assert gone() is None


def test_what_interrupts_an_answer_is_raised():
    class Pressed:
        def __len__(self):
            raise KeyboardInterrupt

        def __getitem__(self, place):
            raise KeyboardInterrupt

    class Interrupted:
        def __init__(self, connection):
            pass

        def on_ack(self, ack):
            return Pressed()

    sender = fullpipe.Sender(Interrupted)
    packet = sender.send(0)
    with pytest.raises(KeyboardInterrupt):
        sender.ack(1, [packet])


def test_more_packets_than_there_can_be_are_refused_at_once():
    with pytest.raises(fullpipe.ScenarioError, match="^packets: 1000000000000 are more than"):
        fullpipe.Sender("bbr1").ack(1, range(10**12))
