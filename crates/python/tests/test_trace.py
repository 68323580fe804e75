"""What captures show."""

import json

import fullpipe
import pytest
from test_run import program, subprocess


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """What the sender of a flow of BBR saw."""
    if program() is None:
        pytest.skip("the command fullpipe is not built; cargo build, or name it in FULLPIPE")
    directory = tmp_path_factory.mktemp("capture")
    scenario = directory / "one.toml"
    scenario.write_text(
        'name = "one"\nduration = "8s"\npath = { rate = "10mbit", rtt = "40ms", buffer = "4bdp" }\n'
        'flow = [{ controller = "bbr1" }]\n'
    )
    subprocess.run([program(), "run", scenario, "--quiet", "--pcap", directory], check=True, capture_output=True)
    return directory / "sender.pcapng"


def test_it_shows_what_the_program_shows(capture):
    printed = subprocess.run([program(), "trace", "--json", capture], check=True, capture_output=True).stdout
    trace = fullpipe.trace(capture)
    assert trace.summary == json.loads(printed)
    flow = trace.summary["connections"][0]["flows"][0]
    assert flow["rtprop_ms"] == pytest.approx(40, rel=0.05)
    assert flow["btl_bw_ip_bps"] == pytest.approx(10e6, rel=0.05)
    assert "10.1.0.1" in str(trace) and repr(trace).endswith("1 connections>")


def test_tables_are_those_of_the_files(capture, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    trace = fullpipe.trace([str(capture)])
    trace.write(tmp_path / "out")
    for name in ("connections", "samples"):
        written = parquet.read_table(tmp_path / "out" / f"{name}.parquet")
        table = pa.table(getattr(trace, name))
        assert len(table) > 0 and table.cast(written.schema).equals(written), name
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(OSError, match="give another name"):
        trace.write(tmp_path)


def test_its_path_can_be_run_and_asked_about(capture):
    trace = fullpipe.trace(capture)
    assert fullpipe.run(trace.scenario, set={"duration": "2s"}).summary["path"]["rtprop_ms"] == pytest.approx(40, rel=0.05)
    advice = fullpipe.advise(trace.ranges, paths=2, duration="3s", controllers=["bbr1", "cubic"])
    assert advice.choice in ("bbr1", "cubic")


def test_what_is_no_capture_is_answered(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        fullpipe.trace("nowhere.pcap")
    assert raised.value.filename == "nowhere.pcap"
    other = tmp_path / "thesis.tex"
    other.write_text("this is no capture, and long enough to be one")
    with pytest.raises(OSError, match="thesis.tex: is not a capture; give pcap"):
        fullpipe.trace(other)
    for wrong in (7, [], None, [7]):
        with pytest.raises(TypeError, match="files: .*give "):
            fullpipe.trace(wrong)
