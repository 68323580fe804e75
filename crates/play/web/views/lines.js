// What is drawn over time.

import { DASHES } from "./theme.js";
import { CROWD } from "./timeline.js";

// A network may have many links. So many queues are drawn: the first ones that ever were a queue.
const MAX_QUEUES = 6;

const flowCurves = (run, column) => {
    const values = typeof column === "function" ? column : (flow) => flow.column(column);
    return run.flows.map((flow) => ({ flow, at: flow.at, values: values(flow), name: flow.label })).filter(({ values }) => values.some((value) => !Number.isNaN(value)));
};

// Lines of one flow for comparison. With several flows, they would hide the others.
const guides = (run, ...columns) => {
    if (run.flows.length !== 1) {
        return [];
    }
    const [flow] = run.flows;
    return columns.filter(([column]) => flow.has(column)).map(([column, name, dash]) => ({ flow, at: flow.at, values: flow.column(column), name, isGuide: true, dash }));
};

const reference = (run, name, value) => {
    const steps = run.steps(value);
    return steps.every(([, value]) => Number.isFinite(value)) ? [{ name, steps }] : [];
};

export const LINES = [
    {
        name: "rate", title: "Delivery rate", unit: "bit/s",
        curves: (run) => [...flowCurves(run, "delivery_rate_bps"), ...guides(run, ["btl_bw_bps", "BtlBw", [2, 3]], ["short_term_bw_bps", "short-term bound", [1, 5]])],
        references: (run) => reference(run, "bottleneck", (path) => path.rate_bps),
        // ACKs that come in bursts may show a multiple of what the path can carry.
        limit: (run) => 2 * Math.max(...run.steps((path) => path.rate_bps).map(([, rate]) => rate || Infinity)),
    },
    {
        name: "rtt", title: "RTT", unit: "ms",
        curves: (run) => flowCurves(run, "rtt_ms"),
        references: (run) => [
            ...reference(run, "RTprop", (path) => path.rtprop_ms),
            ...reference(run, "RTprop + full buffer", (path) => path.rtprop_ms + (path.buffer_bytes * 8000) / path.rate_bps),
        ],
    },
    {
        name: "inflight", title: "Inflight", unit: "B",
        curves: (run) => [...flowCurves(run, "inflight_bytes"), ...guides(run, ["cwnd_bytes", "cwnd", [2, 3]], ["long_term_inflight_bytes", "long-term bound", [6, 3]], ["short_term_inflight_bytes", "short-term bound", [1, 5]])],
        references: (run) => [
            ...reference(run, "BDP", (path) => path.bdp_bytes),
            ...reference(run, "BDP + buffer", (path) => path.bdp_bytes + path.buffer_bytes),
        ],
    },
    {
        name: "queue", title: "Queue", unit: "B",
        curves: ({ hops }) => hops.map(({ at, name, ...hop }, place) => ({
            at, values: hops[place].column("queue_bytes"), name: name ?? (hops.length > 1 ? `bottleneck ${place + 1}` : "queue"), dash: DASHES[place % DASHES.length],
        })).filter(({ values }, _, { length }) => length === 1 || values.some((bytes) => bytes > 0)).slice(0, MAX_QUEUES),
        references: (run) => (run.hops.length === 1 ? reference(run, "buffer", (path) => path.buffer_bytes) : []),
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
            ...flowCurves(run, "delivered_bytes").map((curve) => ({ ...curve, name: "delivered", dash: [3, 3] })),
        ]),
    },
];
