"""Environments of Gymnasium over the simulator."""

import importlib
import re
import sys
import warnings

import fullpipe
import pytest
from conftest import ROOT

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed; in a clone, pip install '.[gym]'")
import fullpipe.gym as gym  # noqa: E402
import numpy as np  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

# A path, a neighbour, timeouts, marks and pauses: runs in which an agent and a controller have to see the same.
PATHS = {
    "plain": {},
    "loss": {"path.loss": "1%", "path.ack_loss": "1%"},
    "outage": {"path.change": [{"at": "1s", "rate": "20kbit"}, {"at": "3s", "rate": "10mbit"}]},
    "marks": {"host.ecn": True, "path.queue": {"kind": "codel", "ecn": True}},
    "objects": {"flow.0.app": {"kind": "poisson", "interval": "200ms", "sizes": "60kb", "connections": "kept"}},
}


@pytest.fixture
def scenario():
    """An agent's flow beside one of CUBIC, for four seconds."""
    return {
        "name": "gym",
        "duration": "4s",
        "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "1bdp"},
        "flow": [{}, {"controller": "cubic", "start": "1s"}],
    }


def decided(observation):
    """An agent without memory that goes up and down."""
    seen = dict(zip(gym.OBSERVATION, observation.tolist()))
    up = seen["rtt_ms"] < 1.3 * seen["min_rtt_ms"] and seen["loss_share"] < 0.05
    return (0.25, 0.5) if up else (-0.5, -0.25)


def episode(env, policy, **reset):
    """All that an episode gives, step by step."""
    observation, info = env.reset(**reset)
    steps = [(observation, 0.0, False, False, info)]
    while not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(policy(steps[-1][0])))
    return steps


def same(one, other):
    return len(one) == len(other) and all(
        (left[0] == right[0]).all() and left[1:4] == right[1:4] for left, right in zip(one, other)
    )


def as_controller(scenario, policy, seen, seed, changes=None):
    """The flows of the run in which a controller decides as the policy does, and writes down what it sees."""

    class Agent(gym.Controller):
        def decide(self, observation):
            seen.append(observation)
            return policy(observation)

    fields = {"flow.0.controller": Agent} | (changes or {})
    return fullpipe.run(scenario, seed=seed, set=fields).summary["flows"]


def test_gymnasiums_checker_finds_nothing(scenario):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("fullpipe/Path-v0", scenario=scenario)
        check_env(env.unwrapped, skip_render_check=True)
    assert isinstance(env.unwrapped, gym.Env)


def test_seed_and_actions_decide_an_episode(scenario):
    scenario["path"]["loss"] = "1%"
    one, same_seed, other = (episode(gym.Env(scenario), decided, seed=seed) for seed in (1, 1, 2))
    assert len(one) > 20
    assert same(one, same_seed) and not same(one, other)
    # The next episode of an environment has another seed.
    env = gym.Env(scenario)
    first, second = episode(env, decided, seed=1), episode(env, decided)
    assert same(first, one) and not same(second, one)
    assert same(episode(gym.Env(scenario), decided, options={"seed": first[0][4]["seed"]}), one)


@pytest.mark.parametrize("path", PATHS)
def test_an_agent_in_an_environment_is_the_same_as_a_controller(scenario, path):
    env = gym.Env(fullpipe.run(scenario, set={"flow.0.controller": "reno"} | PATHS[path]).scenario)
    steps = episode(env, decided, seed=3)
    seen = []
    flows = as_controller(scenario, decided, seen, steps[0][4]["seed"], PATHS[path])
    # The last observation is of the end of the run, at which nothing is decided.
    assert len(seen) == len(steps) - 1 > 10
    assert all((left == right[0]).all() for left, right in zip(seen, steps))
    assert env.record().summary["flows"] == flows


def test_an_agent_that_does_nothing_is_a_constant_window_and_rate(scenario):
    class Agent:
        def __init__(self, connection):
            self.cwnd, self.rate = connection.initial_cwnd, None
            self.needs_pacing = True

        def on_ack(self, ack):
            self.rate = self.rate or self.cwnd * 8 / ack.rtt_ns * 1e9
            return self.cwnd, self.rate

    env = gym.Env(scenario)
    steps = episode(env, lambda _: (0, 0), options={"seed": 5})
    flows = fullpipe.run(scenario, seed=5, set={"flow.0.controller": Agent}).summary["flows"]
    assert env.record().summary["flows"] == flows
    assert flows[0]["controller"] == "python:Agent"
    last = gym.OBSERVATION.index("cwnd_bytes")
    assert {step[0][last] for step in steps} == {14480}


def test_what_is_seen_has_its_units(scenario):
    del scenario["flow"][1]
    env = gym.Env(scenario)
    # Four times the initial window: the path is full, and the queue is not.
    actions = iter([(1, 1), (1, 1)])
    observation, *_, info = episode(env, lambda _: next(actions, (0, 0)), seed=1)[-10]
    seen = gym.fields(observation)
    assert seen["cwnd_bytes"] == 4 * 14480
    goodput = env.record().summary["flows"][0]["goodput_bps"]
    assert info["path_goodput_bps"] == pytest.approx(10e6 * 1448 / 1500)
    assert seen["delivered_bps"] == pytest.approx(info["path_goodput_bps"], rel=0.05)
    assert seen["delivered_bps"] == pytest.approx(goodput, rel=0.1)
    assert info["path_rtt_ms"] == pytest.approx(40 + 1500 * 8 / 10e6 * 1e3)
    assert seen["rtt_ms"] == pytest.approx(4 * 14480 * 8 / seen["delivered_bps"] * 1e3, rel=0.05)
    assert seen["time_ms"] == pytest.approx(seen["rtt_ms"], rel=0.1)
    assert seen["loss_share"] == seen["timeouts"] == seen["is_app_limited"] == 0


def test_decisions_are_an_interval_apart(scenario):
    time = gym.OBSERVATION.index("time_ms")
    steps = episode(gym.Env(scenario, interval="100ms"), decided, seed=1)
    times = [step[0][time] for step in steps[1:-1]]
    assert min(times) >= 100 and np.median(times) < 140


def test_the_truth_follows_the_path(scenario):
    scenario["path"]["change"] = [{"at": "2s", "rate": "5mbit", "rtt": "60ms"}]
    first, *_, last = (step[4] for step in episode(gym.Env(scenario), decided, seed=1))
    assert first["path_goodput_bps"] == 2 * last["path_goodput_bps"]
    assert last["path_rtt_ms"] - first["path_rtt_ms"] == pytest.approx(20 + 1500 * 8 / 10e6 * 1e3)
    assert last["at_s"] == 4


def test_a_flow_that_has_delivered_everything_terminates(scenario):
    scenario["flow"][0] = {"controller": "reno", "bytes": "300kb"}
    *_, terminated, truncated, info = episode(gym.Env(scenario), decided, seed=1)[-1]
    assert terminated and not truncated and info["at_s"] < 4
    *_, terminated, truncated, info = episode(gym.Env(scenario, flow=1), decided, seed=1)[-1]
    assert truncated and not terminated and info["at_s"] == 4


def test_a_path_that_lets_nothing_through_is_an_episode_without_decisions(scenario):
    scenario["path"]["loss"] = "100%"
    first, *rest = episode(gym.Env(scenario), lambda _: (0, 0), seed=1)
    seen = gym.fields(first[0])
    assert seen["time_ms"] == 4000 and seen["delivered_bps"] == seen["rtt_ms"] == 0
    assert [step[1:4] for step in rest] == [(0, False, True)]


def test_the_usual_reward_is_zero_for_a_full_pipe_with_an_empty_queue():
    truth = {"path_goodput_bps": 10e6, "path_rtt_ms": 40.0}
    one = {"time_ms": 500, "delivered_bps": 10e6, "rtt_ms": 40}

    def reward(**others):
        values = one | others
        return gym.full_pipe(np.array([values.get(name, 0) for name in gym.OBSERVATION], np.float32), truth)

    assert reward() == 0
    assert reward(delivered_bps=5e6) == -0.5
    assert reward(rtt_ms=80) == -0.5
    assert reward(loss_share=0.1) == pytest.approx(-0.5)
    assert reward(delivered_bps=0) == -5
    assert reward(time_ms=1000, rtt_ms=80) == -1


def test_a_reward_may_be_a_function(scenario):
    def delivered(observation, info):
        return gym.fields(observation)["delivered_bps"] / info["path_goodput_bps"]

    rewards = [step[1] for step in episode(gym.Env(scenario, reward=delivered), decided, seed=1)[1:]]
    assert 0 < sum(rewards) / len(rewards) < 1


def test_a_vector_has_the_environments_of_its_seeds(scenario):
    scenario["path"]["loss"] = "1%"
    vector = gymnasium.make_vec("fullpipe/Path-v0", num_envs=3, scenario=scenario)
    alone = [gym.Env(scenario) for _ in range(3)]
    observations, infos = vector.reset(seed=7)
    firsts = [env.reset(seed=7 + place) for place, env in enumerate(alone)]
    assert (observations == [observation for observation, _ in firsts]).all()
    assert list(infos["seed"]) == [info["seed"] for _, info in firsts]
    over, restarts = np.zeros(3, bool), 0
    for _ in range(250):
        actions = np.array([decided(observation) for observation in observations], np.float32)
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        assert vector.observation_space.contains(observations)
        for place, env in enumerate(alone):
            if over[place]:
                observation, info = env.reset()
                reward, ends = 0, (False, False)
                restarts += 1
            else:
                observation, reward, *ends, info = env.step(actions[place])
            assert (observations[place] == observation).all()
            assert rewards[place] == pytest.approx(reward)
            assert [terminated[place], truncated[place]] == list(ends)
            assert infos["at_s"][place] == info["at_s"] and infos["_at_s"].all()
        over = terminated | truncated
    assert restarts >= 3


def test_each_episode_may_have_a_path_of_its_own(scenario):
    env = gym.Env(gym.drawn)
    rtts = {env.reset(seed=seed)[1]["path_rtt_ms"] for seed in (1, 2, 1, 3)}
    assert len(rtts) == 3
    other = env.reset(options={"scenario": scenario})[1]
    assert other["path_rtt_ms"] == pytest.approx(41.2, abs=0.1)
    assert env.reset()[1]["path_rtt_ms"] != other["path_rtt_ms"]


def test_numbers_without_units_are_small():
    env = gym.Env(gym.drawn)
    for seed in range(10):
        steps = episode(env, decided, seed=seed)
        numbers = gym.relative(np.stack([step[0] for step in steps]))
        assert numbers.shape == (len(steps), 5) and np.abs(numbers).max() <= 4
        assert gym.relative(steps[3][0]) == pytest.approx(numbers[3])


@pytest.mark.parametrize(
    ("changes", "given", "wanted", "words"),
    [
        ({}, {"flow": 2}, fullpipe.ScenarioError, "flow.2"),
        ({}, {"flow": -1}, fullpipe.ScenarioError, "flow: -1 is out of range"),
        ({}, {"interval": "soon"}, fullpipe.ScenarioError, "interval: "),
        ({}, {"interval": 20}, TypeError, "interval: .*give a str"),
        ({"flow": [{"count": 2}]}, {}, fullpipe.ScenarioError, "flow.count: an agent controls one connection"),
        ({"flow": [{}, {"controller": gym.Controller}]}, {}, fullpipe.ScenarioError, "class of Python's"),
        ({"path": {"rtt": "10ms"}, "flow": [{"bytes": "1mb"}]}, {}, fullpipe.ScenarioError, "reward: .*give a reward"),
        ({"path": {"rate": "fast"}}, {}, fullpipe.ScenarioError, "path.rate"),
    ],
)
def test_wrong_arguments_are_named(scenario, changes, given, wanted, words):
    for env in (gym.Env(scenario | changes, **given), gym.VectorEnv(2, scenario | changes, **given)):
        with pytest.raises(wanted, match=words):
            env.reset(seed=1)


def test_wrong_calls_are_answered(scenario):
    env = gym.Env(scenario)
    with pytest.raises(fullpipe.EngineError, match="call reset first"):
        env.step([0, 0])
    with pytest.raises(ValueError, match="options: there is no sead; give scenario or seed"):
        env.reset(options={"sead": 1})
    env.reset()
    for action in ([0], [0, 0, 0], [float("nan"), 0]):
        with pytest.raises(ValueError, match="^action: .*two numbers from -1 to 1"):
            env.step(action)
    for seeds in ([], [1], [1, 2, 3]):
        with pytest.raises(ValueError, match="^seed: .* for 2 environments; give one for each"):
            gym.VectorEnv(2, scenario).reset(seed=seeds)
    with pytest.raises(fullpipe.ScenarioError, match="^num_envs: .*give fewer"):
        gym.VectorEnv(10**9, scenario)
    env.close()
    with pytest.raises(fullpipe.EngineError, match="call reset first"):
        env.step([0, 0])
    with pytest.raises(NotImplementedError, match="decide"):
        fullpipe.run(scenario, set={"flow.0.controller": gym.Controller})


def test_the_page_names_every_value():
    text = (ROOT / "docs" / "gym.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert rows == [*gym.OBSERVATION, *gym.TRUTH]


def test_where_gymnasium_is_missing_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "fullpipe.gym")
    with pytest.raises(ModuleNotFoundError) as raised:
        importlib.import_module("fullpipe.gym")
    assert str(raised.value) == "fullpipe.gym: gymnasium is not installed; in a clone, pip install '.[gym]'"
