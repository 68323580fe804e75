"""Values of Python's, NumPy's and others', as scenarios have them."""

import decimal
import fractions
import types
from collections import UserDict

import fullpipe
import pytest

np = pytest.importorskip("numpy")


def flows(scenario, **set):
    return fullpipe.run(scenario, set={key.replace("__", "."): value for key, value in set.items()}).summary["flows"]


@pytest.mark.parametrize(
    ("field", "value", "same"),
    [
        ("seed", np.int64(3), 3),
        ("seed", np.array(3), 3),
        ("host__ecn", np.bool_(True), True),
        ("path__loss", np.float64(0.01), "1%"),
        ("path__loss", np.float32(0.01), "1%"),
        ("path__loss", np.array(0.01), "1%"),
        ("path__loss", decimal.Decimal("0.01"), "1%"),
        ("path__loss", fractions.Fraction(1, 100), "1%"),
        ("path__loss", 1e-5, "0.001%"),
        ("path__loss", 1.5e-5, "0.0015%"),
        ("path__loss", decimal.Decimal("1E-5"), "0.001%"),
    ],
)
def test_numbers_of_any_kind_are_numbers(scenario, field, value, same):
    assert flows(scenario, **{field: value}) == flows(scenario, **{field: same})


def test_small_and_large_floats_have_no_exponent(scenario):
    assert "0.00001%" in fullpipe.run(scenario, set={"path.loss": 1e-7}).scenario
    with pytest.raises(fullpipe.ScenarioError, match='"-0.0000001"'):
        fullpipe.run(scenario, set={"path.loss": -1e-7})
    with pytest.raises(fullpipe.ScenarioError, match="12500000000000000000000 is more"):
        fullpipe.run(scenario, set={"path.loss": 1.25e22})
    for wrong in (float("nan"), float("inf"), decimal.Decimal("1E+9999999")):
        with pytest.raises(fullpipe.ScenarioError) as raised:
            fullpipe.run(scenario, set={"path.loss": wrong})
        assert raised.value.field == "path.loss"


# pytest cannot tell them either.
@pytest.mark.parametrize("wrong", ["\ud800", 10**5000, decimal.Decimal("sNaN")], ids=["half", "digits", "sNaN"])
def test_what_python_cannot_tell_is_told_with_its_field(scenario, wrong):
    for said in (scenario | {"path": scenario["path"] | {"loss": wrong}}, scenario):
        with pytest.raises(fullpipe.ScenarioError, match="loss: .*; give another value$") as raised:
            fullpipe.run(said, set={} if said is not scenario else {"path.loss": wrong})
        assert raised.value.field.endswith("loss")


def test_a_field_of_many_parts_is_refused(scenario):
    deep = "a." * 50_000 + "a"
    for ask in (
        lambda: fullpipe.run(scenario, set={deep: 1}),
        lambda: fullpipe.sweep({"axes": {deep: [1]}, "scenario": scenario}),
        lambda: fullpipe.advise({"rate": "5mbit"}, set={deep: 1}, paths=1, duration="1s"),
    ):
        with pytest.raises(fullpipe.ScenarioError, match="a field of 50001 parts") as raised:
            ask()
        assert len(str(raised.value)) < 200


def test_a_seed_is_no_bool(scenario):
    with pytest.raises(TypeError, match="^seed: .*bool"):
        fullpipe.run(scenario, seed=True)


def test_mappings_are_dicts(scenario):
    same = fullpipe.run(scenario).summary["flows"]
    for kind in (types.MappingProxyType, UserDict):
        wrapped = kind(scenario | {"path": kind(scenario["path"])})
        assert fullpipe.run(wrapped).summary["flows"] == same
        lossy = fullpipe.run(scenario, set=kind({"path.loss": "3%"})).summary["flows"]
        assert lossy == fullpipe.run(scenario, set={"path.loss": "3%"}).summary["flows"]


@pytest.mark.parametrize(
    ("axis", "values"),
    [
        ("path.loss", np.linspace(0, 0.02, 3)),
        ("path.loss", np.array([0, 0.01, 0.02], dtype=np.float32)),
        ("seed", range(3)),
        ("seed", np.arange(3)),
        ("path.loss", (0, 0.01, 0.02)),
    ],
)
def test_sequences_are_axes(scenario, axis, values):
    def swept(values):
        return fullpipe.sweep({"axes": {axis: values}, "scenario": scenario | {"duration": "2s"}})

    listed = swept([value if axis == "seed" else f"{value:.3g}" for value in values])
    found = swept(values)
    assert found.summary["runs"] == 3
    name = "axis_" + axis.replace(".", "_")
    assert list(found.flows[name]) == list(listed.flows[name])


@pytest.mark.parametrize("wrong", [b"1%", {1, 2}, object(), float, iter([1])])
def test_what_is_no_value_is_a_type_error(scenario, wrong):
    with pytest.raises(TypeError, match="^path.loss: .*give a str"):
        fullpipe.run(scenario, set={"path.loss": wrong})


def test_a_list_that_would_fill_the_memory_is_refused(scenario):
    with pytest.raises(fullpipe.ScenarioError, match="give fewer"):
        fullpipe.sweep({"axes": {"path.loss": range(10**12)}, "scenario": scenario})


def test_a_dict_that_changes_while_it_is_read(scenario):
    class Changing:
        def __index__(self):
            scenario.clear()
            return 5

    fullpipe.run(scenario | {"seed": Changing()})
