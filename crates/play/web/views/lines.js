// What is drawn over time.

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
];
