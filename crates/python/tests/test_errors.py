"""What goes wrong is an exception that names the field and the fix."""

import errno
import os
import pickle

import fullpipe
import pytest


@pytest.mark.parametrize(
    ("field", "value", "named", "words"),
    [
        ("path.rate", "fast", "path.rate", "fast"),
        ("path.loss", "200%", "path.loss", "200%"),
        ("path.lsos", "1%", "path.lsos", "did you mean `path.loss`?"),
        ("flow.0.controller", "bbr9", "flow[0].controller", "bbr1"),
        ("flow.7.controller", "bbr1", "flow.7.controller", "the last is flow.1"),
        ("duration", None, "duration", "duration"),
    ],
)
def test_a_wrong_field_is_named(scenario, field, value, named, words):
    if value is None:
        del scenario[field]
        given = {}
    else:
        given = {field: value}
    with pytest.raises(fullpipe.ScenarioError) as raised:
        fullpipe.run(scenario, set=given)
    assert isinstance(raised.value, ValueError)
    assert raised.value.field.endswith(named)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_text_has_lines():
    with pytest.raises(fullpipe.ScenarioError) as raised:
        fullpipe.run('name = "x"\nduration = "1s"\npath = { rate = "1mbit", rtt = "0.1" }\n')
    assert (raised.value.line, raised.value.field) == (3, "path.rtt")
    assert str(raised.value).startswith("line 3: path.rtt: ")
    with pytest.raises(fullpipe.ScenarioError) as raised:
        fullpipe.run("name =\n")
    assert raised.value.line == 1


def test_a_file_is_named_with_its_line(tmp_path):
    file = tmp_path / "slow.toml"
    file.write_text('name = "x"\nduration = "1s"\npath = { rate = "fast", rtt = "1ms" }\nflow = [{ controller = "bbr1" }]\n')
    with pytest.raises(fullpipe.ScenarioError) as raised:
        fullpipe.run(file)
    assert str(raised.value).startswith(f"{file}: line 3: path.rate: ")
    # What replaces a field is not the file's.
    with pytest.raises(fullpipe.ScenarioError, match="^path.rate: ") as raised:
        fullpipe.run(file, set={"path.rate": "faster"})


def test_what_an_engine_cannot_do_is_told_by_the_field(scenario):
    scenario["flow"] = [{"controller": "kernel:vegas"}]
    with pytest.raises(fullpipe.ScenarioError) as raised:
        fullpipe.run(scenario)
    assert raised.value.field == "flow.controller"
    with pytest.raises(fullpipe.ScenarioError, match="engine: .*sim") as raised:
        fullpipe.run(scenario, engine="ns3")
    assert raised.value.field == "engine"


def test_a_run_without_an_end_is_an_engines_error():
    lost = {
        "name": "lost",
        "path": {"rate": "1mbit", "rtt": "10ms", "loss": "100%"},
        "flow": [{"controller": "reno", "bytes": "1mb"}],
    }
    # Its connection is never opened, and the host gives up.
    failed = fullpipe.run(lost).summary["flows"][0]["failed_opens"]
    assert failed == 1


@pytest.mark.parametrize("wrong", [7, None, ["x"], {1: 2}, {"name": object()}])
def test_what_is_no_scenario_is_a_type_error(wrong):
    with pytest.raises(TypeError, match="give a"):
        fullpipe.run(wrong)


def endless():
    said = {"name": "x"}
    said["path"] = said
    return said


def listed():
    said = []
    said.append(said)
    return {"name": "x", "flow": said}


def deep():
    said = {}
    for _ in range(200_000):
        said = {"path": said}
    return said


def typed():
    path = fullpipe.Path(rate="1mbit")
    path.next = [path]
    return fullpipe.Scenario(name="x", path=path, flow=[fullpipe.Flow("reno")])


@pytest.mark.parametrize("said", [endless, listed, deep, typed])
def test_what_is_inside_itself_has_no_end_and_is_told(scenario, said):
    wrong = said()
    for read in (
        lambda: fullpipe.run(wrong),
        lambda: fullpipe.sweep({"scenario": wrong}),
        lambda: fullpipe.run(scenario, set={"path": wrong}),
    ):
        with pytest.raises(fullpipe.ScenarioError, match="inside 64") as raised:
            read()
        assert raised.value.field


def test_a_list_that_doubles_is_told_before_it_fills_the_memory():
    doubled = 1
    for _ in range(40):
        doubled = [doubled, doubled]
    with pytest.raises(fullpipe.ScenarioError, match="^name: .*more than 1000000 values; give fewer") as raised:
        fullpipe.run({"name": doubled})
    assert raised.value.field == "name"


@pytest.mark.parametrize(
    ("call", "argument", "kind"),
    [
        ("run", {"seed": -1}, fullpipe.ScenarioError),
        ("run", {"seed": 2**64}, fullpipe.ScenarioError),
        ("run", {"seed": 2**100_000}, fullpipe.ScenarioError),
        ("run", {"seed": 1.5}, TypeError),
        ("run", {"seed": "1"}, TypeError),
        ("run", {"engine": 5}, TypeError),
        ("run", {"set": ["path.loss=1%"]}, TypeError),
        ("run", {"set": {1: 2}}, TypeError),
        ("sweep", {"executor": 5}, TypeError),
        ("sweep", {"out": 5}, TypeError),
        ("sweep", {"jobs": 2**70}, fullpipe.ScenarioError),
        ("sweep", {"jobs": "2"}, TypeError),
        ("advise", {"duration": 5}, TypeError),
        ("advise", {"controllers": "bbr1"}, TypeError),
        ("advise", {"controllers": [1]}, TypeError),
        ("advise", {"seed": -1}, fullpipe.ScenarioError),
        ("advise", {"paths": 1001}, fullpipe.ScenarioError),
        ("advise", {"paths": 10**12}, fullpipe.ScenarioError),
        ("advise", {"paths": 2**62}, fullpipe.ScenarioError),
        ("advise", {"paths": 2**70}, fullpipe.ScenarioError),
    ],
)
def test_wrong_arguments_are_named_with_the_fix(scenario, call, argument, kind):
    grid = {"axes": {"path.loss": ["1%"]}, "scenario": scenario}
    of = {"sweep": grid}.get(call, scenario)
    (name, _), = argument.items()
    with pytest.raises(kind, match=f"^{name}: .*give ") as raised:
        getattr(fullpipe, call)(of, **argument)
    assert len(str(raised.value)) < 200
    if kind is not TypeError:
        assert raised.value.field == name


def test_none_is_as_if_it_were_not_given(scenario):
    same = fullpipe.run(scenario, engine=None, seed=None, set=None)
    assert same.summary["flows"] == fullpipe.run(scenario).summary["flows"]


def test_a_class_is_no_scenario():
    with pytest.raises(TypeError, match="^scenario: .*give a dict"):
        fullpipe.run(fullpipe.Scenario)


def test_a_missing_file_is_told_by_its_name():
    with pytest.raises(FileNotFoundError) as raised:
        fullpipe.run("nowhere.toml")
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, "nowhere.toml")


def test_a_directory_that_is_in_use_is_left_alone(scenario, tmp_path):
    kept = tmp_path / "thesis.tex"
    kept.write_text("mine")
    record = fullpipe.run(scenario)
    with pytest.raises(OSError, match="give another name"):
        record.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(FileNotFoundError):
        record.write(tmp_path / "none" / "out")


def test_a_full_disk_is_an_os_error_and_leaves_nothing(scenario, tmp_path):
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    record = fullpipe.run(scenario)
    # A limit on files' sizes stands in for a disk that is full: the system refuses to write on.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError) as raised:
            record.write(tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert raised.value.errno == errno.EFBIG
    assert os.listdir(tmp_path) == []
    record.write(tmp_path / "out")


@pytest.mark.parametrize(
    "argument", [{"grid": "0s"}, {"grid": "often"}, {"grid": "1ns"}, {"qlog": [2]}, {"qlog": [-1]}]
)
def test_wrong_arguments_of_write_are_told_by_their_name(scenario, tmp_path, argument):
    (name, _), = argument.items()
    with pytest.raises(fullpipe.ScenarioError, match=f"^{name}: ") as raised:
        fullpipe.run(scenario).write(tmp_path / "out", **argument)
    assert raised.value.field == name
    for wrong in ({name: 5}, {name: [None]}):
        with pytest.raises(TypeError, match=f"^{name}: .*give"):
            fullpipe.run(scenario).write(tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()


def test_errors_travel_between_processes():
    error = pickle.loads(pickle.dumps(fullpipe.ScenarioError("path.rtt: no", "path.rtt", 3)))
    assert (str(error), error.field, error.line) == ("path.rtt: no", "path.rtt", 3)
