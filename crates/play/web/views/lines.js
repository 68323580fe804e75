// What is drawn over time.

import { DASHES } from "./theme.js";
import { CROWD } from "./times.js";

// A network may have many links. So many queues are drawn: the first ones that ever were a queue.
const MAX_QUEUES = 6;

const flowCurves = (run, column) => {
    const values = typeof column === "function" ? column : (flow) => flow.column(column);
    const curves = run.flows.map((flow) => ({ flow, at: flow.at, values: values(flow), name: flow.label }));
    return curves.filter(({ values }) => values.some((value) => !Number.isNaN(value)));
};

// Lines of one flow for comparison. With several flows, they would hide the others.
const guides = (run, ...columns) => {
    if (run.flows.length !== 1) {
        return [];
    }
    const [flow] = run.flows;
    const known = columns.filter(([column]) => flow.has(column));
    return known.map(([column, name, dash]) => ({ flow, at: flow.at, values: flow.column(column), name, isGuide: true, dash }));
};

// A line of the path for comparison. A network of several bottlenecks has none.
const reference = (run, name, value) => {
    if (!run.isPath) {
        return [];
    }
    const steps = run.path.steps(value);
    return steps.every(([, value]) => Number.isFinite(value)) ? [{ name, steps }] : [];
};

// A line for comparison that is of the BDP. An outage has one of nothing.
const ofBdp = (run, name, value) => {
    const { path } = run;
    const isAny = path.isOneRtprop && path.steps((time) => path.isPoliced(time)).every(([, isPoliced]) => !isPoliced);
    return isAny ? reference(run, name, (time) => value(path.payloadAt(time))) : [];
};

// A line for each RTprop, if the flows have few.
const rtprops = (run) => {
    const { path } = run;
    const names = path.rtpropsAt(0);
    return names.length > CROWD ? [] : names.flatMap((_, place) => reference(run, "RTprop", (time) => path.rtpropsAt(time)[place]));
};

export const LINES = [
    {
        name: "rate", title: "Delivery rate", unit: "bit/s",
        curves: (run) => [
            ...flowCurves(run, "delivery_rate_bps"),
            ...guides(run, ["btl_bw_bps", "BtlBw", [2, 3]], ["short_term_bw_bps", "short-term bound", [1, 5]]),
        ],
        references: (run) => [
            ...reference(run, "bottleneck, payload", (time) => run.path.payloadAt(time).rate_bps),
            ...reference(run, "policer, payload", (time) => run.path.payloadAt(time).policer_bps),
        ],
        // ACKs that come in bursts may show a multiple of what the path can carry.
        limit: (run) => (run.isPath ? 2 * run.path.fastest_bps || Infinity : Infinity),
    },
    {
        name: "rtt", title: "RTT", unit: "ms",
        curves: (run) => flowCurves(run, "rtt_ms"),
        references: (run) => [
            ...rtprops(run),
            ...ofBdp(run, "RTprop + full buffer", (path) => path.rtprop_ms + (path.buffer_bytes * 8000) / path.rate_bps),
        ],
    },
    {
        name: "inflight", title: "Inflight", unit: "B",
        curves: (run) => [
            ...flowCurves(run, "inflight_bytes"),
            ...guides(run,
                ["cwnd_bytes", "cwnd", [2, 3]],
                ["long_term_inflight_bytes", "long-term bound", [6, 3]],
                ["short_term_inflight_bytes", "short-term bound", [1, 5]]),
        ],
        references: (run) => [
            ...ofBdp(run, "BDP", (path) => path.bdp_bytes),
            ...ofBdp(run, "BDP + buffer", (path) => path.bdp_bytes + path.buffer_bytes),
        ],
    },
    {
        name: "queue", title: "Queue", unit: "B",
        curves: ({ hops }) => {
            const isOne = hops.length === 1;
            const curves = hops.map((hop, place) => ({
                at: hop.at, values: hop.column("queue_bytes"), name: hop.name ?? (isOne ? "queue" : `bottleneck ${place + 1}`),
            }));
            const queues = curves.filter(({ values }) => isOne || values.some((bytes) => bytes > 0));
            return queues.slice(0, MAX_QUEUES).map((curve, place) => ({ ...curve, dash: DASHES[place % DASHES.length] }));
        },
        references: (run) => (run.hops.length === 1 ? reference(run, "buffer", () => run.path.buffer_bytes) : []),
    },
    {
        name: "gain", title: "Pacing gain", unit: "",
        curves: (run) => (run.flows.length <= CROWD ? flowCurves(run, (flow) => flow.gain) : []),
        references: () => [{ name: "BtlBw", steps: [[0, 1]] }],
        limit: () => 4,
    },
    {
        name: "progress", title: "Data sent and delivered", unit: "B",
        curves: (run) => (run.flows.length > CROWD ? [] : [
            ...flowCurves(run, (flow) => flow.sent).map((curve) => ({ ...curve, name: `${curve.name} sent` })),
            ...flowCurves(run, "delivered_bytes").map((curve) => (
                { ...curve, name: "delivered", dash: [3, 3], isQuiet: run.flows.length > 1 }
            )),
        ]),
    },
];
