"""Scenarios in, records out."""

import json
import os
import shutil
import subprocess

import fullpipe
import pytest
from conftest import ROOT

TOML = """\
name = "light-loss"
duration = "5s"
path = { rate = "10mbit", rtt = "40ms", buffer = "4bdp", loss = "1%" }
flow = [{ controller = "bbr1" }, { controller = "cubic", start = "1s" }]
"""


def program():
    """The command `fullpipe`, if it has been built."""
    named = os.environ.get("FULLPIPE")
    built = [ROOT / "target" / profile / "fullpipe" for profile in ("release", "debug")]
    return named or next((path for path in built if path.exists()), shutil.which("fullpipe"))


def timeless(summary):
    """The summary without the only field that differs between two runs."""
    return {key: value for key, value in summary.items() if key != "wall_s"}


def test_every_way_to_say_a_scenario_gives_the_same_record(scenario, tmp_path):
    file = tmp_path / "light-loss.toml"
    file.write_text(TOML)
    typed = fullpipe.Scenario(
        name="light-loss",
        duration="5s",
        path=fullpipe.Path(rate="10mbit", rtt="40ms", buffer="4bdp", loss="1%"),
        flow=[fullpipe.Flow("bbr1"), fullpipe.Flow("cubic", start="1s")],
    )
    ways = [scenario, TOML, file, str(file), typed]
    records = [fullpipe.run(way) for way in ways]
    assert len({json.dumps(timeless(record.summary)) for record in records}) == 1
    assert len({record.scenario for record in records}) == 1
    assert timeless(fullpipe.run(records[0].scenario).summary) == timeless(records[0].summary)


def test_the_summary_is_what_the_program_prints(tmp_path):
    if program() is None:
        pytest.skip("the command fullpipe is not built; cargo build, or name it in FULLPIPE")
    file = tmp_path / "light-loss.toml"
    file.write_text(TOML)
    command = [program(), "run", file, "--json", "--quiet", "--seed", "7", "--set", "path.loss=2%"]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    summary = fullpipe.run(file, seed=7, set={"path.loss": "2%"}).summary
    assert json.dumps(timeless(summary)) == json.dumps(timeless(printed))


def test_fields_are_replaced_by_values_of_any_type(scenario):
    fields = {
        "path.loss": 0.02,
        "path.policer": {"rate": "5mbit", "burst": "50kb"},
        "flow.1.start": None,
        "flow.controller": "reno",
        "host.ecn": True,
        "path.change": [{"at": "2s", "rate": "5mbit"}],
    }
    text = fullpipe.run(scenario, set=fields).scenario
    assert text.count('controller = "reno"') == 2
    for line in ['loss = "2%"', 'burst = "50kb"', "ecn = true", 'rate = "5mbit"', 'start = "1s"']:
        assert line in text, text


def test_seeds_are_what_they_are_in_the_scenario(scenario):
    one, same, other = (
        fullpipe.run(scenario | {"seed": 3}).summary,
        fullpipe.run(scenario, seed=3).summary,
        fullpipe.run(scenario, seed=4).summary,
    )
    assert timeless(one) == timeless(same)
    assert one["flows"] != other["flows"]


def test_a_record_is_written_as_the_program_writes_it(scenario, tmp_path):
    record = fullpipe.run(scenario)
    record.write(tmp_path / "out", qlog=[0], grid="10ms")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"summary.json", "scenario.toml", "samples.parquet", "report.html", "flow-0.sqlog", "grid.parquet"}
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == record.summary
    again = fullpipe.run(tmp_path / "out" / "scenario.toml")
    assert timeless(again.summary) == timeless(record.summary)


def test_a_record_shows_itself(scenario):
    record = fullpipe.run(scenario)
    assert repr(record) == "<fullpipe.Record of \"light-loss\" on engine sim: 5 s, 2 flows>"
    assert "bbr1" in str(record) and "goodput" in str(record)


def test_typed_scenarios_have_the_fields_that_are_documented():
    text = (ROOT / "docs" / "scenario.md").read_text()
    for heading, kind in {
        "## The top": fullpipe.Scenario,
        "## `[path]`": fullpipe.Path,
        "## `[host]`": fullpipe.Host,
        "## `[[flow]]`": fullpipe.Flow,
    }.items():
        assert documented(text, heading) == names(kind), heading
    own = documented(text, "## `[[link]]`")
    assert own | names(fullpipe.Path) - {"next"} == names(fullpipe.Link)


def documented(text, heading):
    section = text.split(f"\n{heading}\n")[1].split("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return {row.split("`")[1] for row in rows}


def names(kind):
    return {name.removesuffix("_") for name in kind.__dataclass_fields__}


def test_a_network_is_made_of_typed_links():
    line = fullpipe.Link(name="line", from_="server", to="home", rate="10mbit", rtt="20ms", buffer="2bdp")
    flow = fullpipe.Flow("bbr1", from_="server", to="home")
    record = fullpipe.run(fullpipe.Scenario(name="home", duration="3s", link=[line], flow=[flow]))
    assert record.summary["path"]["name"] == "line"
    with pytest.raises(fullpipe.ScenarioError, match="no link begins or ends at hom"):
        fullpipe.run(
            fullpipe.Scenario(name="home", duration="3s", link=[line], flow=[fullpipe.Flow("bbr1", from_="server", to="hom")])
        )
