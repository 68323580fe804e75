"""Environments of Gymnasium, for those who train controllers. In a clone, ``pip install '.[gym]'`` installs what they need.

>>> import gymnasium, fullpipe.gym
>>> env = gymnasium.make("fullpipe/Path-v0", scenario="scenarios/loss-1pct.toml")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

An episode is a run of the scenario. The agent is the congestion controller of one of its flows. :data:`OBSERVATION` names the
values that it sees, all of which the flow's sender knows. An action is two binary logarithms, by which the pacing rate and the
window are multiplied. docs/gym.md has their units and bounds.

:class:`Controller` is the same agent as a class for :func:`fullpipe.run` and :func:`fullpipe.evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from . import _native
from ._errors import ScenarioError

try:
    import gymnasium
    import numpy as np
    from gymnasium.utils import seeding
    from gymnasium.vector import AutoresetMode
    from numpy.typing import NDArray
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError(
        f"fullpipe.gym: {_missing.name} is not installed; in a clone, pip install '.[gym]'", name=_missing.name
    ) from None

__all__ = ["OBSERVATION", "TRUTH", "Controller", "Env", "VectorEnv", "drawn", "fields", "full_pipe", "relative"]

_seen, _true = _native._fields()

OBSERVATION = tuple(_seen)
"""The names of the values of an observation, with their units."""

TRUTH = tuple(_true)
"""The names of the values in ``info``: the truth about the path, which no sender knows."""

Floats: TypeAlias = NDArray[np.float32]
"""Observations and actions."""

Reward: TypeAlias = Callable[[Floats, Mapping[str, Any]], Any]
"""A reward of an observation and its ``info``. In a :class:`VectorEnv`, these are of all environments."""

# The numbers of a row: whether the flow has ended, and whether the run has, come last.
_WIDTH = len(OBSERVATION) + len(TRUTH) + 2
_CAPACITY = len(OBSERVATION) + TRUTH.index("path_goodput_bps")
# The bound of a value without one.
_MOST = np.finfo(np.float32).max
# The least share of the path that counts: less is as bad.
_LEAST_SHARE = 2.0**-10


def fields(observation: Floats) -> dict[str, Floats]:
    """The values of an observation, or of several, by their names."""
    return {name: observation[..., place][()] for place, name in enumerate(OBSERVATION)}


def full_pipe(observation: Floats, info: Mapping[str, Any]) -> Any:
    """The reward by default: zero for a full pipe with an empty queue, and less for anything else.

    For each second, it is the binary logarithm of the share of the path that is used, less the queue in RTTs of the empty
    path, less ten times the share of lost packets.
    """
    seen = fields(observation.astype(np.float64))
    # A path in an outage is in full use.
    share = np.maximum(seen["delivered_bps"], 1) / np.maximum(info["path_goodput_bps"], 1)
    used = np.log2(np.clip(share, _LEAST_SHARE, 1))
    queue = np.maximum(seen["rtt_ms"] / np.maximum(info["path_rtt_ms"], 1e-3) - 1, 0)
    return seen["time_ms"] / 1e3 * (used - queue - 10 * seen["loss_share"])


def relative(observation: Floats) -> Floats:
    """An observation, or several, as five numbers without units, from -4 to 4 and of similar size on every path.

    They are the binary logarithms of the delivered rate as a share of the pacing rate, of the RTT in least RTTs, and of the
    window in BDPs (of the delivered rate and the least RTT); ten times the lost share; and the marked share.
    """
    seen = fields(observation)
    delivered, least = np.maximum(seen["delivered_bps"], 1), np.maximum(seen["min_rtt_ms"], 1e-3)
    numbers = [
        np.log2(delivered / np.maximum(seen["pacing_rate_bps"], 1)),
        np.log2(np.maximum(seen["rtt_ms"], 1e-3) / least),
        np.log2(np.maximum(seen["cwnd_bytes"], 1) * 8e3 / (delivered * least)),
        10 * seen["loss_share"],
        seen["mark_share"],
    ]
    clipped: Floats = np.clip(np.stack(numbers, axis=-1), -4, 4).astype(np.float32)
    return clipped


def drawn(random: np.random.Generator) -> dict[str, Any]:
    """A scenario with one flow over a drawn path: 2 to 50 Mbit/s, 10 to 100 ms, a buffer of 0.5 to 4 BDP, and on half of the
    paths 0.01 to 1 % of random loss. An episode takes 60 RTTs, and 2 s or more."""

    def spread(least: float, most: float) -> float:
        return float(least * (most / least) ** random.random())

    rate, rtt = spread(2, 50), spread(10, 100)
    path = {"rate": f"{rate:.3f}mbit", "rtt": f"{rtt:.3f}ms", "buffer": f"{spread(0.5, 4):.3f}bdp"}
    loss = spread(0.01, 1)
    if random.random() < 0.5:
        path["loss"] = f"{loss:.4f}%"
    return {"name": "drawn", "duration": f"{max(2.0, 0.06 * rtt):.3f}s", "path": path, "flow": [{}]}


# The type of a box of floats differs among Gymnasium's versions.
def _space() -> Any:
    most = [1 if name.endswith("_share") or name.startswith("is_") else _MOST for name in OBSERVATION]
    return gymnasium.spaces.Box(np.zeros(len(most), np.float32), np.array(most, np.float32))


def _actions() -> Any:
    return gymnasium.spaces.Box(-1, 1, (2,), np.float32)


class _Episodes:
    """Episodes of one kind, in the places of native ones."""

    def __init__(self, count: int, scenario: Any, flow: int, interval: str | None, reward: Reward) -> None:
        self.native = _native._Environments(count)
        self.scenario = scenario
        self.flow = flow
        self.interval = interval
        self.reward = reward

    def begin(self, place: int, random: np.random.Generator, options: Mapping[str, Any] | None) -> int:
        """Begins an episode, and returns its seed in the simulator."""
        given = dict(options or {})
        scenario, seed = given.pop("scenario", self.scenario), given.pop("seed", None)
        if given:
            raise ValueError(f"options: there is no {next(iter(given))}; give scenario or seed")
        seed = int(random.integers(2**63)) if seed is None else seed
        if callable(scenario):
            scenario = scenario(random)
        self.native.begin(place, scenario, self.flow, self.interval, seed)
        return seed

    def step(self, actions: Any) -> NDArray[np.float64]:
        """The rows after these actions."""
        rows = np.frombuffer(self.native.step(np.asarray(actions, np.float64).tobytes()), np.float64)
        return rows.reshape(-1, _WIDTH)

    def check(self, rows: NDArray[np.float64]) -> None:
        """Refuses a path for which the reward by default has no value."""
        if self.reward is full_pipe and np.isnan(rows[:, _CAPACITY]).any():
            message = "reward: this flow's route has no link with a rate, or one that follows a trace; give a reward of your own"
            raise ScenarioError(message, "reward")


class Env(gymnasium.Env[Floats, Floats]):
    """An agent as the congestion controller of a flow, in the simulator.

    ``scenario`` is one in any form that :func:`fullpipe.run` takes, or a function of a NumPy generator that returns one for
    each episode, such as :func:`drawn`. ``flow`` is the number of the agent's flow; its ``controller`` in the scenario does not
    matter. ``interval``, such as ``"20ms"``, is the least time between two decisions, which are a smoothed RTT apart by
    default. ``reward`` is a function of an observation and its ``info``.

    ``reset(options={"scenario": …, "seed": …})`` replaces the scenario, and the simulator's seed, for one episode.

    The flow's end terminates an episode, and the end of the scenario's duration truncates it.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Any,
        *,
        flow: int = 0,
        interval: str | None = None,
        reward: Reward = full_pipe,
        render_mode: None = None,
    ) -> None:
        self.render_mode = render_mode
        self.observation_space = _space()
        self.action_space = _actions()
        self._episodes = _Episodes(1, scenario, flow, interval, reward)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins an episode, and goes on to its first decision. ``info`` has the seed of the simulator."""
        super().reset(seed=seed)
        used = self._episodes.begin(0, self.np_random, options)
        rows = self._episodes.step([0, 0])
        self._episodes.check(rows)
        observation, info = _told(rows[0])
        return observation, info | {"seed": used}

    def step(self, action: Floats | Sequence[float]) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Takes the action, and goes on to the next decision."""
        row = self._episodes.step(action)[0]
        observation, info = _told(row)
        reward = float(self._episodes.reward(observation, info))
        return observation, reward, bool(row[-2]), bool(row[-1]), info

    def record(self) -> _native.Record:
        """The record of the episode until now, without samples over time."""
        return self._episodes.native.record(0)

    def close(self) -> None:
        """Ends the episode, and frees its memory."""
        self._episodes.native.close()


class VectorEnv(gymnasium.vector.VectorEnv[Floats, Floats, NDArray[Any]]):
    """Several environments, as :class:`Env` has them, that are stepped at once on all processors.

    An environment whose episode is over begins another in the next step, whose action it ignores. With the seed ``s``, the
    first environment has the seed ``s``, the second one ``s`` + 1, and so on.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        num_envs: int,
        scenario: Any,
        *,
        flow: int = 0,
        interval: str | None = None,
        reward: Reward = full_pipe,
        render_mode: None = None,
    ) -> None:
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._episodes = _Episodes(num_envs, scenario, flow, interval, reward)
        self.single_observation_space = _space()
        self.single_action_space = _actions()
        batched = gymnasium.vector.utils.batch_space
        self.observation_space = batched(self.single_observation_space, num_envs)
        self.action_space = batched(self.single_action_space, num_envs)
        self._randoms = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._is_over = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins an episode in each environment. ``seed`` may be a list of one for each."""
        if isinstance(seed, int):
            seed = range(seed, seed + self.num_envs)
        seeds: list[int | None] = [None] * self.num_envs if seed is None else list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: {len(seeds)} seeds for {self.num_envs} environments; give one for each")
        for place, own in enumerate(seeds):
            if own is not None:
                self._randoms[place] = seeding.np_random(own)[0]
        used = [self._episodes.begin(place, random, options) for place, random in enumerate(self._randoms)]
        rows = self._episodes.step(np.zeros((self.num_envs, 2)))
        self._episodes.check(rows)
        self._is_over[:] = False
        observations, infos = _told(rows)
        return observations, _masked(infos | {"seed": np.array(used, np.uint64)})

    def step(
        self, actions: Floats | Sequence[Sequence[float]]
    ) -> tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Takes an action in each environment, and goes on to the next decision of each."""
        is_new = self._is_over
        actions = np.asarray(actions, np.float64)
        if actions.shape != (self.num_envs, 2) or np.isnan(actions[~is_new]).any():
            raise ValueError("action: give two numbers from -1 to 1 for each environment")
        actions = np.where(is_new[:, None], 0.0, actions)
        for place in np.flatnonzero(is_new):
            self._episodes.begin(int(place), self._randoms[place], None)
        rows = self._episodes.step(actions)
        if is_new.any():
            self._episodes.check(rows)
        observations, infos = _told(rows)
        rewards = np.where(is_new, 0.0, self._episodes.reward(observations, infos))
        terminated, truncated = rows[:, -2] > 0, rows[:, -1] > 0
        self._is_over = terminated | truncated
        return observations, rewards, terminated, truncated, _masked(infos)

    def close_extras(self, **_: Any) -> None:
        """Ends all episodes, and frees their memory."""
        self._episodes.native.close()


def _told(rows: NDArray[np.float64]) -> tuple[Floats, dict[str, Any]]:
    """The observations, and the truth beside them."""
    first = len(OBSERVATION)
    truth = {name: rows[..., first + place][()] for place, name in enumerate(TRUTH)}
    return rows[..., :first].astype(np.float32), truth


def _masked(infos: dict[str, Any]) -> dict[str, Any]:
    """As Gymnasium wants them: beside each value, the environments that have it."""
    masks = {f"_{name}": np.ones(len(values), bool) for name, values in infos.items()}
    return infos | masks


class Controller:
    """The agent of an environment as a controller for :func:`fullpipe.run` and :func:`fullpipe.evaluate`.

    A subclass decides, from the observations that the environment gives, and with its actions:

    >>> class Steady(fullpipe.gym.Controller):
    ...     def decide(self, observation):
    ...         return 0, 0

    Each connection has an object of it. With the same decisions, the run is that of the environment, packet by packet. Only
    if several ACKs arrive at one instant (links that aggregate, or have no rate) does the controller decide at the first of
    them, and an environment behind the last.
    """

    interval: ClassVar[str | None] = None
    """The least time between two decisions, such as ``"20ms"``."""

    needs_pacing: ClassVar[bool] = True

    def __init__(self, connection: _native.Connection) -> None:
        self._view = _native._View(connection, self.interval)

    def decide(self, observation: Floats) -> Sequence[float] | Floats:
        """The action: the binary logarithms of the factors of the pacing rate and of the window."""
        raise NotImplementedError("decide: give your class decide(self, observation)")

    def on_ack(self, ack: _native.Ack) -> tuple[int, int]:
        """An ACK has delivered data."""
        return self._told(self._view.on_ack(ack))

    def on_timeout(self, now_ns: int, inflight: int) -> tuple[int, int]:
        """A retransmission timeout."""
        return self._told(self._view.on_timeout(now_ns, inflight))

    def _told(self, seen: bytes | None) -> tuple[int, int]:
        values = self._view.values
        if seen is not None:
            pacing, window = self.decide(np.frombuffer(seen, np.float64).astype(np.float32))
            self._view.act(float(pacing), float(window))
        return values


gymnasium.register(
    id="fullpipe/Path-v0",
    entry_point="fullpipe.gym:Env",
    vector_entry_point="fullpipe.gym:VectorEnv",
)
