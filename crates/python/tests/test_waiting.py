"""Whoever waits for a run is not in the way of others, and can end it."""

import signal
import threading
import time

import fullpipe
import pytest


def pressed(after):
    """Ctrl-C, once `after` says that it is time."""

    def press():
        after()
        signal.raise_signal(signal.SIGINT)

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
