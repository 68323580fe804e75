"""Scenarios as typed objects, with the same names and values as in TOML.

A field that is ``None`` is not given, and has the default stated in the documentation of scenarios. Values are checked
when the scenario is run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any, Callable, Mapping, Sequence, Union

from ._native import Connection

Rate = str
"""Text such as ``"20mbit"``."""

Time = str
"""Text such as ``"40ms"`` or ``"1.5s"``."""

Size = str
"""Text such as ``"250kb"`` or ``"8mib"``."""

Share = Union[str, float]
"""Text such as ``"1%"``, or a number such as 0.01."""

Table = Mapping[str, Any]
"""A table of the scenario as a dict."""


class _Entries:
    def _to_dict(self) -> dict[str, Any]:
        # ``from`` is a word of the language, so the field is ``from_``.
        return {entry.name.removesuffix("_"): getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]


@dataclass(kw_only=True)
class _Bottleneck(_Entries):
    rate: Rate | None = None
    """The bottleneck's rate; unlimited if not given."""
    rtt: Time | None = None
    """RTprop, the two-way propagation delay."""
    forward_delay: Time | None = None
    """The part of ``rtt`` on the direction of data; half of it if not given."""
    buffer: Size | None = None
    """The bottleneck's buffer: ``"100kb"``, ``"100p"`` (packets), ``"4bdp"`` or ``"1s"``; unlimited if not given."""
    queue: str | Table | None = None
    """The queue discipline: ``"droptail"``, ``"codel"``, ``"fq_codel"``, ``"red"``, ``"dualpi2"``, ``"threshold"``, or a table."""
    loss: Share | Table | None = None
    """Random loss of data packets."""
    loss_at: str | None = None
    """The place of random loss: ``"entry"`` or ``"exit"`` of the bottleneck."""
    ack_loss: Share | None = None
    """Random loss of ACKs."""
    jitter: Time | Table | None = None
    """A delay that varies from packet to packet, up to this time."""
    reorder: Table | None = None
    """Data packets that are held back and overtaken: ``{"share": "1%", "by": "10ms"}``."""
    duplicate: Share | None = None
    """Share of data packets that arrive twice."""
    corruption: Share | None = None
    """Share of data packets that arrive damaged, so that their receiver discards them."""
    mtu: int | None = None
    """The largest data packet, in bytes with its headers; larger ones are dropped."""
    policer: Table | None = None
    """A token bucket in front of the buffer: ``{"rate": "10mbit", "burst": "100kb"}``."""
    demand: Table | None = None
    """A cell whose rate follows the queue: ``{"within": "40ms", "least": "500kbit"}``."""
    aggregation: Table | None = None
    """ACKs that are held and released together: ``{"interval": "4ms"}``."""
    trace: str | os.PathLike[str] | None = None
    """A file instead of a rate: delivery opportunities in Mahimahi's format, or a table of times and rates."""
    uplink: Table | None = None
    """The direction of ACKs."""
    change: Sequence[Table] | None = None
    """Changes over time: ``{"at": "20s", "rate": "10mbit"}``."""


@dataclass(kw_only=True)
class Path(_Bottleneck):
    """``[path]``: one bottleneck for data and a propagation delay."""

    next: Sequence[Path | Table] | None = None
    """Further bottlenecks behind this one."""


@dataclass(kw_only=True)
class Link(_Bottleneck):
    """``[[link]]``: a link of a network. Its fields apply from ``from_`` to ``to``; ``uplink``, ``ack_loss`` and
    ``aggregation`` apply in the opposite direction."""

    name: str
    """The link's name."""
    from_: str
    """The site at which it begins."""
    to: str
    """The site at which it ends."""


@dataclass(kw_only=True)
class Host(_Entries):
    """``[host]``: the hosts at both ends. The defaults are Linux's, except for buffers, which are larger than any window."""

    scheduler: str | None = None
    """The pacer of packets: ``"fq"``, ``"pacing"`` or ``"none"``."""
    nic: Rate | None = None
    """The rate of the sending host's network card."""
    mss: int | None = None
    """Payload of a full segment, in bytes."""
    initial_cwnd: int | None = None
    """The initial congestion window, in segments."""
    send_buffer: Size | None = None
    """The most payload that is written and not yet acknowledged."""
    receive_buffer: Size | None = None
    """The largest receive window."""
    initial_receive_buffer: Size | None = None
    """The initial receive window."""
    delayed_ack: Time | None = None
    """The longest delay of an ACK."""
    ack_every: int | None = None
    """The number of full segments that trigger an ACK."""
    aggregation_delay: Time | None = None
    """The time that received segments wait for others if ``ack_every`` is above 2."""
    sack_blocks: int | None = None
    """The number of SACK blocks in an ACK."""
    compressed_acks: int | None = None
    """The number of ACKs about a hole that are merged into one."""
    min_rto: Time | None = None
    """The smallest margin of the retransmission timeout above the smoothed RTT."""
    max_rto: Time | None = None
    """The longest retransmission timeout, including backoff."""
    loss_detection: str | None = None
    """``"rack"`` or ``"dupacks"``."""
    ecn: bool | None = None
    """Whether connections use ECN."""
    accurate_ecn: bool | None = None
    """Whether they use Accurate ECN."""
    ack_frequency: bool | None = None
    """Whether senders request the frequency of ACKs that their controller wants."""
    fast_open: str | None = None
    """Whether connections open with data: ``"off"``, ``"on"`` or ``"known"``."""
    syn_timer: str | None = None
    """The system whose SYNs are repeated and given up: ``"linux"``, ``"linux-4.19"``, ``"windows"`` or ``"bsd"``."""
    small_queues: str | None = None
    """The kernel whose small queues bound what a connection has waiting below TCP: ``"linux"``, ``"linux-4.19"`` or
    ``"off"``."""
    offload: bool | None = None
    """Whether TCP hands segments down in bursts."""
    change: Sequence[Table] | None = None
    """Changes over time: ``{"at": "20s", "receive_buffer": "64mib"}``."""


@dataclass
class Flow(_Entries):
    """``[[flow]]``: a group of flows that differ only in their start."""

    controller: str | Callable[[Connection], Any]
    """``"bbr1"``, ``"bbr3"``, ``"cubic"``, ``"reno"``, ``"kernel:NAME"`` with engine ``linux``, or a class of yours with
    engine ``sim``."""
    count: int | None = field(default=None, kw_only=True)
    """The number of flows."""
    start: Time | None = field(default=None, kw_only=True)
    """The start of the first flow."""
    stagger: Time | None = field(default=None, kw_only=True)
    """The time from the start of one flow to the start of the next."""
    bytes: Size | None = field(default=None, kw_only=True)
    """The size of each flow's transfer; by default without end."""
    app: str | Table | None = field(default=None, kw_only=True)
    """The application of each flow: ``{"kind": "video"}``."""
    rtt: Time | None = field(default=None, kw_only=True)
    """The RTprop of each flow."""
    reverse: bool | None = field(default=None, kw_only=True)
    """Whether the flows send in the other direction."""
    hops: int | str | None = field(default=None, kw_only=True)
    """The bottlenecks of a chain that the flows cross: ``"0-1"``."""
    from_: str | None = field(default=None, kw_only=True)
    """The site that sends, in a network."""
    to: str | None = field(default=None, kw_only=True)
    """The site that receives, in a network."""
    route: Sequence[str] | None = field(default=None, kw_only=True)
    """The links that data cross; the way with the fewest links if not given."""
    back: Sequence[str] | None = field(default=None, kw_only=True)
    """The links that ACKs cross; those of the data if not given."""
    bbr1: str | Table | None = field(default=None, kw_only=True)
    """The settings in which their BBR differs from the kernel's."""
    cubic: str | Table | None = field(default=None, kw_only=True)
    """The settings in which their CUBIC differs from the kernel's."""
    bbr3: Table | None = field(default=None, kw_only=True)
    """The settings in which their BBRv3 differs from the draft's."""
    host: Host | Table | None = field(default=None, kw_only=True)
    """The settings in which their hosts differ from the scenario's."""


@dataclass(kw_only=True)
class Scenario(_Entries):
    """A path or a network, and the flows over it.

    >>> import fullpipe
    >>> scenario = fullpipe.Scenario(
    ...     name="light-loss",
    ...     duration="5s",
    ...     path=fullpipe.Path(rate="10mbit", rtt="40ms", buffer="4bdp", loss="1%"),
    ...     flow=[fullpipe.Flow("bbr1"), fullpipe.Flow("cubic")],
    ... )
    >>> fullpipe.run(scenario).summary["scenario"]
    'light-loss'
    """

    name: str
    """The scenario's name."""
    duration: Time | None = None
    """The latest end of the run; required if a flow has no end."""
    warmup: Time | None = None
    """The beginning of the run that the summary leaves out."""
    seed: int | None = None
    """The seed of every random choice."""
    path: Path | Table | None = None
    """The path; unlimited and without delay if not given."""
    link: Sequence[Link | Table] | None = None
    """The links of a network, in place of the path."""
    host: Host | Table | None = None
    """The hosts at both ends."""
    flow: Sequence[Flow | Table]
    """The flows."""
