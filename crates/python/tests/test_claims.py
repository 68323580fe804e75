"""What was published, measured again."""

import json

import fullpipe
import pytest
from test_run import program, subprocess
from test_waiting import pressed


def test_judgements_are_those_that_the_program_prints():
    if program() is None:
        pytest.skip("the command fullpipe is not built; cargo build, or name it in FULLPIPE")
    command = [program(), "claims", "--json", "--quiet", "--quick", "median-rtt"]
    printed = json.loads(subprocess.run(command, capture_output=True).stdout)
    claims = fullpipe.claims(["median-rtt"], quick=True)
    assert claims.summary == printed
    assert claims.summary["fails"] == 0 and claims.summary["holds"] > 0
    assert "median-rtt" in str(claims)
    assert repr(claims).startswith(f"<fullpipe.Claims: {printed['holds']} hold")


@pytest.mark.parametrize(
    ("ids", "options", "field", "words"),
    [
        (["median"], {}, "ids", "median-rtt"),
        (["loss-sweep"], {"engine": "ns3"}, "engine", "sim"),
        (["operating-point"], {"engine": "quic"}, "engine", "another"),
        ([], {"jobs": 0}, "jobs", "1 or more"),
    ],
)
def test_what_makes_no_sense_is_named(ids, options, field, words):
    with pytest.raises(fullpipe.ScenarioError, match=words) as raised:
        fullpipe.claims(ids, **options)
    assert raised.value.field == field


def test_a_table_of_ones_own_is_read(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        fullpipe.claims(scenarios=tmp_path / "nowhere")
    with pytest.raises(fullpipe.ScenarioError) as raised:
        fullpipe.claims(scenarios=tmp_path)
    assert raised.value.field == "scenarios"
    (tmp_path / "claims.toml").write_text("[[claim]]\nid = 'a'\n")
    with pytest.raises(fullpipe.ScenarioError, match=r"claims.toml: line 2: claim.source: is missing"):
        fullpipe.claims(scenarios=tmp_path)


def test_ctrl_c_ends_them():
    began = []
    thread = pressed(lambda: [None for _ in iter(lambda: bool(began), True)])
    with pytest.raises(KeyboardInterrupt):
        fullpipe.claims(["population"], progress=lambda *news: began.append(news))
    thread.join()
