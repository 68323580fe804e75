// Scenarios to begin with. Each has a name for links, a title, two sentences about what to see, and a text that `fullpipe run` takes.
// `span_ms` is the time that the paper's figure shows, where that is a part of the run.

const FIGURES = "Figures of the BBR paper (2016)";
const PATHS = "Everyday paths";
const NETWORKS = "Networks";
const SHARING = "Sharing";

export const presets = [
    {
        name: "three-flows",
        group: SHARING,
        title: "Three controllers, one bottleneck",
        about: "BBRv1, BBRv3 and CUBIC share 20 Mbit/s. CUBIC fills the buffer, and beside it BBR cannot keep it empty. With half a BDP of buffer BBRv1 has most of the rate; with 4 BDP CUBIC has.",
        text: `name = "three-flows"
duration = "10s"

[path]
rate = "20mbit"
rtt = "40ms"
buffer = "2bdp"

[[flow]]
controller = "bbr1"

[[flow]]
controller = "bbr3"
start = "500ms"

[[flow]]
controller = "cubic"
start = "1s"
`,
    },
    {
        name: "figure-1",
        group: FIGURES,
        title: "Figure 1: the operating point",
        about: "Sixty flows arrive one after the other, and each keeps four packets in flight. Up to the BDP only the delivery rate grows; from there to BDP + buffer only the RTT; beyond, packets are lost.",
        text: `name = "operating-point"
duration = "35s"

[path]
rate = "10mbit"
rtt = "48ms"
buffer = "4bdp"

# A receive window of four segments: the number of flows sets inflight.
[host]
delayed_ack = "0s"
receive_buffer = "5792b"
initial_receive_buffer = "5792b"

[[flow]]
controller = "bbr1"
count = 60
stagger = "500ms"
`,
    },
    {
        name: "figure-2",
        group: FIGURES,
        title: "Figure 2: steady state",
        span_ms: 700,
        about: "A BBR flow probes for bandwidth in one of eight round trips. More inflight brings no more delivery but a longer RTT, so the next round trip sends less and removes the queue.",
        text: `name = "steady-state"
duration = "6s"

[path]
rate = "10mbit"
rtt = "40ms"
buffer = "8bdp"

# BBR of Linux 4.19, as in the paper's years.
[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
`,
    },
    {
        name: "figure-3",
        group: FIGURES,
        title: "Figure 3: the rate changes",
        about: "The rate doubles at 20 s and halves at 40 s. BBR finds more bandwidth by exponential growth in its gain cycles; after the fall, its window bounds the queue until the old maximum expires.",
        text: `name = "bandwidth-change"
duration = "60s"

[path]
rate = "10mbit"
rtt = "40ms"
buffer = "1mb"

[[path.change]]
at = "20s"
rate = "20mbit"

[[path.change]]
at = "40s"
rate = "10mbit"

[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
start = "4s"
`,
    },
    {
        name: "figure-4",
        group: FIGURES,
        title: "Figure 4: the first second",
        span_ms: 1000,
        about: "Startup doubles the rate in each round trip until delivery stops growing, and Drain removes the queue that this made. Set the controller to CUBIC: it keeps its queue, and goes on growing until the buffer is full (choose 8 s).",
        text: `name = "first-second"
duration = "1s"

[path]
rate = "10mbit"
rtt = "40ms"
buffer = "6bdp"

[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
`,
    },
    {
        name: "figure-5",
        group: FIGURES,
        title: "Figure 5: the first eight seconds",
        about: "BBR's RTT stays near RTprop while CUBIC (choose it) rides on a full buffer. Both have the whole rate.",
        text: `name = "first-eight-seconds"
duration = "8s"

[path]
rate = "10mbit"
rtt = "40ms"
buffer = "6bdp"

[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
`,
    },
    {
        name: "figure-6",
        group: FIGURES,
        title: "Figure 6: fair shares",
        about: "Five BBR flows start two seconds apart. ProbeRTT empties the queue together for all of them, and from there their shares approach each other.",
        text: `name = "fair-share"
duration = "60s"

[path]
rate = "100mbit"
rtt = "10ms"
buffer = "8bdp"

[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
count = 5
stagger = "2s"
`,
    },
    {
        name: "figure-7",
        group: FIGURES,
        title: "Figure 7: a wide area network",
        about: "One path of a network like Google's B4: a shallow buffer, light loss, 8 MB every 20 s over a connection that stays open. Look at the transfers below the pictures: with CUBIC, which takes every lost packet for congestion, they take several times as long. BBR's Startup overruns the buffer and pays with a sixth of its bytes sent again.",
        text: `name = "wide-area"
duration = "60s"

[path]
rate = "100mbit"
rtt = "100ms"
buffer = "0.5bdp"
loss = "0.1%"

[host]
receive_buffer = "8mb"

[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
app = { kind = "requests", response = "8mb", think = "20s" }
`,
    },
    {
        name: "figure-8",
        group: FIGURES,
        title: "Figure 8: random loss",
        about: "BBR keeps the rate under a loss of 1 %; drag the loss up to 20 % and find the point where it collapses. CUBIC in its place falls from a hundredth of a percent on.",
        text: `name = "loss"
duration = "60s"

[path]
rate = "100mbit"
rtt = "100ms"
buffer = "4bdp"
loss = "1%"

# Startup finds the limit of the path and not that of the receiver.
[host]
initial_receive_buffer = "4mib"

[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
`,
    },
    {
        name: "figure-10",
        group: FIGURES,
        title: "Figure 10: large buffers, slow line",
        about: "Eight flows at 128 kbit/s, for an hour. Their smallest windows, four packets each, are 3 s of this line, so that none of them sees the RTprop of 40 ms, and the RTT is some 4 s whatever the buffer; with CUBIC it is that of the full buffer, here a minute.",
        text: `name = "buffer"
duration = "3600s"
warmup = "1800s"

[path]
rate = "128kbit"
rtt = "40ms"
buffer = "1mb"

[[flow]]
controller = "bbr1"
bbr1 = "linux-4.19"
count = 8
`,
    },
    {
        name: "home-wifi",
        group: NETWORKS,
        title: "Home Wi-Fi",
        about: "A download to a laptop, a film on the television. At 7 s somebody walks away with the laptop: the Wi-Fi becomes slower than the line, and the queue moves there.",
        text: `name = "home"
duration = "20s"

[[link]]
name = "line"
from = "internet"
to = "router"
rate = "50mbit"
rtt = "14ms"
buffer = "300kb"
uplink = { rate = "10mbit", buffer = "200kb" }

[[link]]
name = "wifi"
from = "router"
to = "laptop"
rate = "200mbit"
rtt = "2ms"
buffer = "1mb"
jitter = "3ms"

[[link.change]]
at = "7s"
rate = "15mbit"

[[link.change]]
at = "14s"
rate = "200mbit"

[[link]]
name = "cable"
from = "router"
to = "television"
rate = "1gbit"
rtt = "1ms"
buffer = "1mb"

[[flow]]
controller = "cubic"
from = "internet"
to = "laptop"

[[flow]]
controller = "bbr1"
from = "internet"
to = "television"
app = { kind = "video", ladder = ["2mbit", "8mbit", "20mbit"] }
`,
    },
    {
        name: "lte",
        group: PATHS,
        title: "LTE",
        about: "The rate comes and goes, a cell grants little to a subscriber without a queue, and ACKs arrive in bunches. CUBIC keeps the deep buffer full and has four fifths of the rate; both flows wait for it, more than a second after the rate has fallen.",
        text: `name = "lte"
duration = "30s"

[path]
rate = "20mbit"
rtt = "60ms"
buffer = "500p"
demand = { within = "20ms", least = "500kbit" }
jitter = "8ms"
aggregation = { interval = "10ms" }
uplink = { rate = "5mbit", buffer = "100p" }

[[path.change]]
at = "10s"
rate = "5mbit"

[[path.change]]
at = "20s"
rate = "20mbit"

[[flow]]
controller = "bbr1"

[[flow]]
controller = "cubic"
`,
    },
    {
        name: "satellite",
        group: PATHS,
        title: "Geostationary satellite",
        about: "600 ms there and back, and some loss in the air. Startup takes many seconds. CUBIC answers every loss: it leaves most of the rate to BBRv1, and without BBRv1 (remove it) it has hardly more.",
        text: `name = "satellite"
duration = "60s"

[path]
rate = "20mbit"
rtt = "600ms"
buffer = "1bdp"
loss = "0.1%"
loss_at = "exit"
uplink = { rate = "3mbit", buffer = "100p" }

[[flow]]
controller = "bbr1"

[[flow]]
controller = "cubic"
`,
    },
    {
        name: "transatlantic",
        group: PATHS,
        title: "Transatlantic",
        about: "200 Mbit/s over 90 ms with a shallow buffer and a trace of loss. The bandwidth-delay product is 1500 packets, and one loss costs CUBIC seconds: BBRv3 has nine tenths of the link that they share. Remove BBRv3, and CUBIC still fills only a part of it.",
        text: `name = "transatlantic"
duration = "20s"

[path]
rate = "200mbit"
rtt = "90ms"
buffer = "0.5bdp"
loss = "0.01%"

[[flow]]
controller = "bbr3"

[[flow]]
controller = "cubic"
start = "1s"
`,
    },
    {
        name: "data-centre",
        group: PATHS,
        title: "Data centre",
        about: "Four flows on a path of 100 µs whose switch marks packets (ECN) when 100 kB wait. CUBIC answers the marks and resends nothing; switch ECN off, and the switch drops instead. Goodput and RTT are nearly the same with both: the drops are resent.",
        text: `name = "data-centre"
duration = "200ms"

[path]
rate = "10gbit"
rtt = "100us"
buffer = "1mb"
queue = { kind = "threshold", at = "100kb" }

[host]
nic = "40gbit"
ecn = true
min_rto = "5ms"

[[flow]]
controller = "cubic"
count = 4
stagger = "200us"
`,
    },
    {
        name: "policed-line",
        group: PATHS,
        title: "A policed line",
        about: "A token bucket of 10 Mbit/s on a line of 100 Mbit/s drops what exceeds it, and there is no queue to feel. BBRv1 recognises the policer by its losses and sends at the rate of the tokens. Choose BBRv3, which resends about as much, and CUBIC, which resends least here.",
        text: `name = "policed-line"
duration = "20s"

[path]
rate = "100mbit"
rtt = "40ms"
buffer = "4bdp"
policer = { rate = "10mbit", burst = "200kb" }

[[flow]]
controller = "bbr1"
`,
    },
    {
        name: "bufferbloat",
        group: PATHS,
        title: "Bufferbloat",
        about: "A buffer of sixteen round trips: CUBIC fills it, and whoever browses beside it waits. Choose BBR for the download, or the queue FQ-CoDel, and watch the RTT of the second flow and the time of its transfers, below the pictures.",
        text: `name = "bufferbloat"
duration = "30s"
warmup = "5s"

[path]
rate = "10mbit"
rtt = "40ms"
buffer = "16bdp"

[[flow]]
controller = "cubic"

# A user who browses meanwhile feels the queue.
[[flow]]
controller = "cubic"
app = { kind = "requests", response = "30kb", think = { mean = "1s" } }
`,
    },
    {
        name: "neighbours",
        group: NETWORKS,
        title: "Access network with neighbours",
        about: "Three customers with lines of different speed behind one link of their provider. Whose bottleneck is it: the own line, or the neighbours'?",
        text: `name = "neighbours"
duration = "20s"

[[link]]
name = "provider"
from = "server"
to = "exchange"
rate = "60mbit"
rtt = "20ms"
buffer = "500kb"

[[link]]
name = "fibre"
from = "exchange"
to = "office"
rate = "200mbit"
rtt = "4ms"
buffer = "1mb"

[[link]]
name = "cable"
from = "exchange"
to = "flat"
rate = "50mbit"
rtt = "12ms"
buffer = "500kb"

[[link]]
name = "dsl"
from = "exchange"
to = "house"
rate = "16mbit"
rtt = "30ms"
buffer = "100p"
uplink = { rate = "1mbit", buffer = "50p" }

[[flow]]
controller = "bbr1"
from = "server"
to = "office"

[[flow]]
controller = "cubic"
from = "server"
to = "flat"
start = "2s"

[[flow]]
controller = "cubic"
from = "server"
to = "house"
start = "4s"
`,
    },
    {
        name: "shallow",
        group: SHARING,
        title: "BBR beside CUBIC, shallow buffer",
        about: "With a tenth of a BDP of buffer, BBRv1 takes nearly everything: it does not answer the losses that make CUBIC retreat. Make it BBRv3, and then deepen the buffer.",
        text: `name = "shallow"
duration = "20s"

[path]
rate = "50mbit"
rtt = "40ms"
buffer = "0.1bdp"

[[flow]]
controller = "bbr1"

[[flow]]
controller = "cubic"
`,
    },
    {
        name: "two-rtts",
        group: SHARING,
        title: "A short and a long path",
        about: "Two BBR flows, 10 ms and 80 ms away, share a bottleneck. The longer one keeps more in flight and has most of the rate; with CUBIC it is the other way round.",
        text: `name = "two-rtts"
duration = "40s"
warmup = "5s"

[path]
rate = "50mbit"
rtt = "10ms"
buffer = "500kb"
jitter = "1ms"

[[flow]]
controller = "bbr1"

[[flow]]
controller = "bbr1"
rtt = "80ms"
start = "100ms"
`,
    },
    {
        name: "l4s",
        group: SHARING,
        title: "L4S beside CUBIC",
        about: "DualPI2 has two queues: Prague's packets wait less than a millisecond in theirs, and CUBIC's some 15 ms in the other. Prague has some 1.7 times CUBIC's rate. Choose drop-tail, and both wait 60 ms in one queue.",
        text: `name = "l4s"
duration = "20s"
warmup = "5s"

[path]
rate = "40mbit"
rtt = "20ms"
buffer = "4bdp"
queue = "dualpi2"
jitter = "100us"

[[flow]]
controller = "prague"

[[flow]]
controller = "cubic"
start = "1s"
`,
    },
];

export const first = presets[0];

export function preset(name) {
    return presets.find((it) => it.name === name);
}
