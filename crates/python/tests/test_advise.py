"""Which controller suits a path."""

import json
import time

import fullpipe
import pytest
from test_run import program, subprocess
from test_waiting import pressed

PATH = {"rate": "5mbit", "rtt": "40ms", "buffer": "1bdp..4bdp", "loss": "0..1%"}
LITTLE = {"paths": 4, "duration": "6s", "controllers": ["bbr1", "cubic"]}


def test_the_advice_is_what_the_program_prints():
    if program() is None:
        pytest.skip("the command fullpipe is not built; cargo build, or name it in FULLPIPE")
    options = [word for key, value in PATH.items() for word in (f"--{key}", value)]
    command = [program(), "advise", "--json", "--quiet", "--goal", "fair", "--paths", "4", "--duration", "6s"]
    command += ["--controllers", "bbr1,cubic", *options]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    advice = fullpipe.advise(PATH, goal="fair", **LITTLE)
    assert advice.summary == printed
    assert advice.choice == printed["choice"] and advice.failed == []
    assert str(advice).startswith(f"choose {advice.choice} for fair")
    assert repr(advice) == f"<fullpipe.Advice: {advice.choice} for fair, from {printed['runs']} runs>"
    assert advice.page.startswith("<!doctype html>")


def test_every_way_to_say_a_path_gives_the_same_advice(tmp_path):
    file = tmp_path / "path.toml"
    file.write_text("[path]\n" + "".join(f'{key} = "{value}"\n' for key, value in PATH.items()))
    known = {"rate": "5mbit", "rtt": "40ms"}
    record = fullpipe.run({"name": "x", "duration": "1s", "path": known, "flow": [{"controller": "reno"}]})
    rest = {f"path.{key}": value for key, value in PATH.items() if key not in known}
    ways = [
        fullpipe.advise(PATH, **LITTLE),
        fullpipe.advise(fullpipe.Path(**PATH), **LITTLE),
        fullpipe.advise({"path": PATH, "duration": "1s"}, **LITTLE),
        fullpipe.advise(file, **LITTLE),
        fullpipe.advise(file.read_text(), **LITTLE),
    ]
    assert len({json.dumps(way.summary["paths"]) for way in ways}) == 1
    assert fullpipe.advise(record, set=rest, **LITTLE).summary["paths"] == ways[0].summary["paths"]


@pytest.mark.parametrize(
    ("path", "options", "field"),
    [
        ({}, {}, "path.rate"),
        ({"rate": "5mbit"}, {}, "path.rtt"),
        (PATH | {"rat": "5mbit"}, {}, "path.rat"),
        (PATH | {"rate": "9mbit..5mbit"}, {}, "path.rate"),
        (PATH | {"loss": "0..200%"}, {}, "path.loss"),
        (PATH, {"goal": "speed"}, "goal"),
        (PATH, {"controllers": ["bbr9"]}, "controllers"),
        (PATH, {"controllers": []}, "controllers"),
        (PATH, {"paths": 0}, "paths"),
        (PATH, {"jobs": -1}, "jobs"),
        (PATH, {"duration": "0s"}, "duration"),
        (PATH, {"duration": "soon"}, "duration"),
        (PATH, {"set": {"path.rtt": "fast"}}, "path.rtt"),
    ],
)
def test_what_makes_no_sense_is_named(path, options, field):
    with pytest.raises(fullpipe.ScenarioError) as raised:
        fullpipe.advise(path, **options)
    assert raised.value.field == field, raised.value
    assert "\n" not in str(raised.value)


def test_wrong_types_and_missing_files_are_answered():
    with pytest.raises(TypeError, match="path: .* give a dict"):
        fullpipe.advise(7)
    with pytest.raises(FileNotFoundError):
        fullpipe.advise("nowhere.toml")


def test_ctrl_c_ends_it():
    began = []
    thread = pressed(lambda: [time.sleep(0.01) for _ in iter(lambda: bool(began), True)])
    with pytest.raises(KeyboardInterrupt):
        fullpipe.advise(PATH, paths=500, duration="1000s", progress=lambda *news: began.append(news))
    thread.join()
