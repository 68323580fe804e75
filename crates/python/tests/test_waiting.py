"""Whoever waits for a run is not in the way of others, and can end it."""

import os
import signal
import threading
import time

import fullpipe
import pytest


def pressed(after):
    """Ctrl-C, once `after` says that it is time."""

    def press():
        after()
        # As the system does: what this thread waits for is interrupted.
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


def test_ctrl_c_ends_a_run(endless):
    started = threading.Event()
    thread = pressed(lambda: (started.wait(), time.sleep(0.1)))
    started.set()
    with pytest.raises(KeyboardInterrupt):
        fullpipe.run(endless)
    thread.join()
    # What is raised belongs to that run alone.
    assert fullpipe.run(endless | {"duration": "2s"}).summary["partial"] is False


def test_what_is_raised_while_a_scenario_is_read_is_not_dropped(scenario):
    class Interrupted:
        # What asks whether it is a mapping asks for this.
        @property
        def __class__(self):
            raise KeyboardInterrupt

    for read in (
        lambda: fullpipe.run(Interrupted()),
        lambda: fullpipe.run(scenario, set=Interrupted()),
        lambda: fullpipe.run(scenario | {"flow": [Interrupted()]}),
        lambda: fullpipe.sweep({"scenario": scenario, "axes": {"path.loss": [Interrupted()]}}),
        lambda: fullpipe.advise(scenario, controllers=Interrupted()),
    ):
        with pytest.raises(KeyboardInterrupt):
            read()


def test_what_a_signals_handler_raises_ends_a_run(endless):
    class Enough(Exception):
        pass

    def handler(*_):
        raise Enough

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Enough):
            fullpipe.run(endless)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_threads_go_on_meanwhile(endless):
    # Only if this thread runs while the other one waits for its run can it tell it to end.
    seen = []

    def count():
        while len(seen) < 1000:
            seen.append(time.monotonic())
            time.sleep(0)

    counting = threading.Thread(target=count)
    thread = pressed(lambda: (counting.start(), counting.join()))
    with pytest.raises(KeyboardInterrupt):
        fullpipe.run(endless)
    thread.join()
    assert len(seen) == 1000


def test_runs_in_several_threads_are_alike(scenario):
    alone = fullpipe.run(scenario).summary
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(fullpipe.run(scenario).summary)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [summary["flows"] for summary in found] == [alone["flows"]] * 4


class Fixed:
    def __init__(self, connection):
        self.window = 10 * connection.mss

    def on_ack(self, ack):
        self.wait()
        return self.window, 1e6


class Looping(Fixed):
    def wait(self):
        while True:
            pass


class Sleeping(Fixed):
    def wait(self):
        time.sleep(3600)


class Waiting(Fixed):
    def wait(self):
        threading.Event().wait()


class Quick(Fixed):
    def wait(self):
        pass


@pytest.mark.parametrize("controller", [Looping, Sleeping, Waiting, Quick])
def test_ctrl_c_ends_a_controller(endless, controller):
    asked = threading.Event()

    class Told(controller):
        def wait(self):
            asked.set()
            super().wait()

    thread = pressed(lambda: (asked.wait(), time.sleep(0.1)))
    with pytest.raises(KeyboardInterrupt):
        fullpipe.run(endless, set={"flow.0.controller": Told})
    thread.join()


def test_ctrl_c_ends_a_run_whose_controller_is_not_asked(endless):
    # Its only packets come after years.
    late = [{"controller": Quick, "start": "999999s"}, {"controller": "reno"}]
    thread = pressed(lambda: time.sleep(0.3))
    with pytest.raises(KeyboardInterrupt):
        fullpipe.run(endless | {"flow": late})
    thread.join()


def test_nothing_of_a_controller_runs_after_it_has_raised(scenario):
    after = []

    class Once(Quick):
        def on_sent(self, *event):
            after.append(event)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fullpipe.run(scenario, set={"flow.0.controller": Once, "flow.1.controller": Once})
    assert len(after) == 1


def test_ctrl_c_ends_writing_and_leaves_nothing(scenario, tmp_path):
    record = fullpipe.run(scenario)
    started = threading.Event()
    thread = pressed(lambda: (started.wait(), time.sleep(0.2)))
    started.set()
    with pytest.raises(KeyboardInterrupt):
        # Millions of rows.
        record.write(tmp_path / "out", grid="200ns")
    thread.join()
    assert list(tmp_path.iterdir()) == []


def test_pipes_and_devices_are_refused_and_nobody_waits(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file in (pipe, "/dev/zero"):
        for read in (
            lambda: fullpipe.run(file),
            lambda: fullpipe.sweep(file),
            lambda: fullpipe.advise(file),
            lambda: fullpipe.trace(file),
        ):
            with pytest.raises(OSError, match="not a regular file"):
                read()
        with pytest.raises(fullpipe.ScenarioError, match="not a regular file") as raised:
            fullpipe.sweep({"axes": {"path.loss": ["1%"]}, "scenario": str(file)})
        assert raised.value.field == "scenario"
