// What is arithmetic in the views: `node --test crates/play/tests/views/arithmetic.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { measure, number, scaleOf, ticks } from "../../web/views/axis.js";
import { decimate, highest } from "../../web/views/decimate.js";
import { packets } from "../../web/views/packets.js";
import { fittingName, namedPlaces } from "../../web/views/ribbons.js";
import { Run } from "../../web/views/run.js";
import { after, between, latest } from "../../web/views/search.js";
import { deliveries, jain, known } from "../../web/views/shares.js";

// A record of these flows, each a list of rows; what a row leaves out is null.
function recordOf(flows, { rows = (own) => own, duration_s = 10, link = {}, rtprops_ms = flows.map(() => 100) } = {}) {
    const columns = ["at_s", "rtt_ms", "inflight_bytes", "below_tcp_bytes", "delivered_bytes", "delivery_rate_bps", "app_limited_s", "state"];
    const all = rows(flows.flatMap((own, flow) => own.map((row) => ({ flow, ...row }))));
    const samples = { flow: all.map(({ flow }) => flow) };
    for (const name of columns) {
        samples[name] = all.map((row) => row[name] ?? null);
    }
    const about = flows.map((_, id) => ({ id, controller: "bbr1", start_s: flows[id][0]?.start_s ?? 0, completed_s: null }));
    const first = { rate_bps: 8e6, rtprop_ms: 100, buffer_bytes: 50_000, policer_bps: null, changes: [], ...link };
    const path = { links: [first], rtprops_ms };
    return { summary: { duration_s, next: [], flows: about }, path, payload_share: 0.9, samples, queue: {}, throughput: {} };
}

test("the latest row of a time is the last one that is not after it", () => {
    const times = [1, 2, 2, 4];
    assert.deepEqual([0, 1, 2, 3, 4, 9].map((time) => after(times, time)), [0, 1, 3, 3, 4, 4]);
    assert.ok(Number.isNaN(latest(times, [7, 8, 9, 10], 0)));
    assert.equal(latest(times, [7, 8, NaN, 10], 3), 8);
    assert.equal(between([0, 10], [0, 5], 4), 2);
    assert.equal(between([0, 10], [0, 5], 99), 5);
});

test("a decimated curve keeps its ends and extremes in every column of pixels, in the order of time", () => {
    const times = Float64Array.from({ length: 100_000 }, (_, row) => row);
    const values = times.map((time) => Math.sin(time / 300) + (time === 54_321 ? 40 : 0) + (time === 12_345 ? NaN : 0));
    const columns = 500, points = [];
    decimate(times, values, 0, 100_000, columns, (time, value) => points.push([time, value]));
    assert.ok(points.length <= 4 * columns + 4);
    assert.ok(points.every(([time], place) => place === 0 || time > points[place - 1][0]));
    for (let column = 0; column < columns; column++) {
        const own = [...values.subarray(column * 200, (column + 1) * 200)].filter((value) => !Number.isNaN(value));
        const kept = points.filter(([time]) => Math.floor(time / 200) === column).map(([, value]) => value);
        assert.equal(Math.max(...kept), Math.max(...own));
        assert.equal(Math.min(...kept), Math.min(...own));
        assert.equal(kept[0], own[0]);
        assert.equal(kept.at(-1), own.at(-1));
    }
});

test("few rows are drawn as they are, with the neighbours of the window", () => {
    const points = [];
    decimate([0, 1, 2, 3, 4], [5, 6, NaN, 8, 9], 0.5, 2.5, 100, (...point) => points.push(point));
    assert.deepEqual(points, [[0, 5], [1, 6], [3, 8]]);
    assert.equal(highest([0, 1, 2, 3], [9, 2, 3, 1], 1.5, 1.8), 3);
    assert.ok(Number.isNaN(highest([], [], 0, 1)));
});

test("axes have steps of 1, 2 or 5, and numbers their units", () => {
    assert.deepEqual(ticks(0, 21, 5), [0, 5, 10, 15, 20]);
    assert.deepEqual(ticks(0.3, 0.7, 4).map((value) => number(value)), ["0.3", "0.4", "0.5", "0.6", "0.7"]);
    assert.deepEqual(scaleOf(20e6, "bit/s"), { by: 1e6, unit: "Mbit/s" });
    assert.equal(measure(9_653_280, "bit/s"), "9.65 Mbit/s");
    assert.equal(measure(NaN, "B"), "–");
    assert.equal(measure(40.048, "ms"), "40 ms");
});

test("a flow has its rows wherever they are in the table, and null is no number", () => {
    const flows = [[{ at_s: 1, rtt_ms: 5 }, { at_s: 2 }], [{ at_s: 1, rtt_ms: 7 }, { at_s: 3, rtt_ms: 9 }]];
    const inTurn = (rows) => rows.toSorted((one, other) => one.at_s - other.at_s);
    for (const rows of [undefined, inTurn]) {
        const run = new Run(recordOf(flows, { rows }));
        assert.deepEqual(run.flows.map(({ at }) => [...at]), [[1000, 2000], [1000, 3000]]);
        assert.deepEqual([...run.flows[0].column("rtt_ms")], [5, NaN]);
        assert.deepEqual([...run.flows[1].column("rtt_ms")], [7, 9]);
    }
});

test("a state lasts until the next one begins, and a pause has none", () => {
    const states = ["Startup", "Startup", "Drain", null, "ProbeBW"];
    const run = new Run(recordOf([states.map((state, row) => ({ at_s: row, state }))]));
    assert.deepEqual(run.flows[0].stays, [
        { from: 0, to: 2000, name: "Startup" }, { from: 2000, to: 3000, name: "Drain" }, { from: 4000, to: 4000, name: "ProbeBW" },
    ]);
});

test("the latest value is found behind many rows that have none, which are read once", () => {
    const times = Float64Array.from({ length: 10_000 }, (_, row) => row);
    const values = Float64Array.from(times, (row) => (row === 5 || row === 9000 ? row : NaN));
    let read = 0;
    const counted = new Proxy(values, { get: (all, name) => (read += /^\d+$/.test(String(name)), name === "map" ? all.map.bind(all) : all[name]) });
    for (let turn = 0; turn < 100; turn++) {
        assert.deepEqual([4, 5, 99, 8999, 9000, 9999].map((time) => latest(times, counted, time)), [NaN, 5, 5, 5, 9000, 9000]);
    }
    assert.ok(read < 100 * 6 * 110, read);
});

test("a flow pauses for longer than an RTT, however long that is", () => {
    const rows = [{ at_s: 1, rtt_ms: 40 }, { at_s: 9, rtt_ms: 8000 }, { at_s: 10 }];
    const run = new Run(recordOf([rows, [{ at_s: 1, rtt_ms: 40 }], []]));
    const [slow, fast, silent] = run.flows;
    assert.deepEqual([slow, fast, silent, undefined].map((flow) => run.pauseOf(flow)), [8000, 500, 500, 8000]);
});

test("the path has its changes from their time on", () => {
    const changes = [
        { at_ms: 100, rate_bps: 1e6, rtprop_ms: null }, { at_ms: 200, rate_bps: null, rtprop_ms: 50 },
        { at_ms: 300, rate_bps: 0, rtprop_ms: null },
    ];
    const { path } = new Run(recordOf([[]], { link: { changes } }));
    assert.equal(path.at(99).bdp_bytes, 100_000);
    assert.equal(path.at(150).bdp_bytes, 12_500);
    assert.equal(path.payloadAt(150).bdp_bytes, 0.9 * 12_500);
    assert.equal(path.payloadAt(250).rtprop_ms, 50);
    assert.equal(path.fastest_bps, 8e6);
    assert.deepEqual(path.steps((time) => path.at(time).rtprop_ms), [[0, 100], [100, 100], [200, 50], [300, 50]]);
    assert.equal(path.withoutBdp(250), null);
    assert.match(path.withoutBdp(300), /outage/);
});

test("flows have RTprops of their own, which a change of the path's changes by as much", () => {
    const changes = [{ at_ms: 100, rate_bps: null, rtprop_ms: 130 }];
    const differing = new Run(recordOf([[], [], []], { link: { changes }, rtprops_ms: [100, 20, 100] })).path;
    assert.deepEqual([0, 1, 2].map((id) => differing.rtpropOf(id, 100)), [130, 50, 130]);
    assert.deepEqual(differing.rtpropsAt(0), [20, 100]);
    assert.match(differing.withoutBdp(0), /different RTprops/);
    const same = new Run(recordOf([[], []], { link: { changes }, rtprops_ms: [40, 40] })).path;
    assert.equal(same.at(0).bdp_bytes, 40_000);
    assert.equal(same.at(100).rtprop_ms, 70);
    assert.equal(same.withoutBdp(0), null);
});

test("a policer limits the path only while the link is faster", () => {
    const changes = [{ at_ms: 100, rate_bps: 1e6, rtprop_ms: null }];
    const { path } = new Run(recordOf([[]], { link: { policer_bps: 2e6, changes } }));
    assert.match(path.withoutBdp(0), /a policer of 2 Mbit\/s/);
    assert.equal(path.withoutBdp(100), null);
});

// Packets of 1000 bytes leave a bottleneck of 8 Mbit/s every millisecond, and are acknowledged 100 ms later. At 1 s, the packet
// number 900 is acknowledged; 100 others are between the bottleneck and their ACK, and 20 wait.
test("what is acknowledged within RTprop is on its way, and the rest waits in the order of its ACKs", () => {
    const rows = (first, step, count) => Array.from({ length: count }, (_, place) => {
        const at_s = first + place * step;
        return { at_s, delivered_bytes: Math.round((at_s - 0.1) / step) * 1000, inflight_bytes: 120_000 * (0.001 / step) };
    });
    const one = new Run(recordOf([rows(0.101, 0.001, 1500)])).flows;
    const path = { unit: 1000, rate_bps: 8e6, rtpropOf: () => 100 };
    const alone = packets(one, 1000.1, path);
    assert.equal(alone.waiting.length, 20);
    assert.equal(alone.moving.length, 100);
    assert.ok(alone.moving.every(({ progress, isExpected }) => progress >= 0 && progress <= 1 && !isExpected));

    // Two flows take turns: their packets wait in turns, too.
    const two = new Run(recordOf([rows(0.101, 0.002, 800), rows(0.102, 0.002, 800)])).flows;
    const { waiting } = packets(two, 1000.1, path);
    assert.equal(waiting.length, 20);
    assert.ok(waiting.every(({ flow }, place) => place === 0 || flow !== waiting[place - 1].flow));

    // Of a flow with a longer RTprop, more is on its way, and less waits.
    const longer = packets(two, 1000.1, { ...path, rtpropOf: ({ id }) => (id === 0 ? 100 : 110) });
    assert.deepEqual([0, 1].map((id) => longer.waiting.filter(({ flow }) => flow.id === id).length), [10, 5]);
    // Nor does an outage lose a packet.
    const outage = packets(one, 1000.1, { ...path, rate_bps: 0 });
    assert.equal(outage.waiting.length + outage.moving.length, 120);
    assert.ok(outage.moving.every(({ progress }) => progress >= 0 && progress <= 1));

    // At the end of the record, no ACK is known: all are expected, and as many wait.
    const end = packets(one, 1600, path);
    assert.ok(end.waiting.length >= 19 && end.waiting.length <= 21);
    assert.ok([...end.waiting, ...end.moving].every(({ isExpected }) => isExpected));
});

test("shares are those of each interval, and Jain's index that of the flows that live through it", () => {
    const line = (rate, from, to) => Array.from({ length: (to - from) * 100 + 1 }, (_, place) => (
        { at_s: from + place / 100, delivered_bytes: (rate * place) / 100, inflight_bytes: 0 }
    ));
    const late = line(1000, 1, 2);
    late[0].start_s = 1;
    const run = new Run(recordOf([line(3000, 0, 2), late], { duration_s: 2 }));
    const shares = deliveries(run);
    assert.equal(shares.interval, 40);
    assert.ok(Math.abs(shares.delivered[0][45] - 120) < 1e-6);
    assert.ok(Math.abs(shares.delivered[1][45] - 40) < 1e-6);
    const index = jain(run, shares);
    assert.ok(Number.isNaN(index[5]));
    assert.ok(Math.abs(index[45] - 0.8) < 1e-9);
});

test("a flow that its application limits for most of an interval is not in Jain's index", () => {
    const line = (rate, limited) => Array.from({ length: 201 }, (_, place) => (
        { at_s: place / 100, delivered_bytes: rate * place, app_limited_s: limited * Math.max(place / 100 - 1, 0) }
    ));
    const run = new Run(recordOf([line(10, 0), line(10, 0.2), line(1, 0.9)], { duration_s: 2 }));
    const index = jain(run, deliveries(run));
    assert.ok(Math.abs(index[0] - 21 ** 2 / (3 * 201)) < 1e-9);
    assert.ok(Math.abs(index.at(-1) - 1) < 1e-9);
    assert.deepEqual(known([NaN, 1, 1, NaN, 0.5]), [[1, 2], [4, 4]]);
});

test("a flow whose count falls has the shares of the table of throughput", () => {
    const record = recordOf([[{ at_s: 0.5, delivered_bytes: 9000 }, { at_s: 1.5, delivered_bytes: 10 }], []], { duration_s: 2 });
    record.throughput = { flow: [0, 0, 1], from_s: [0, 1, 1], interval_s: [1, 1, 1], delivered_bytes: [500, 600, 200] };
    const { interval, delivered } = deliveries(new Run(record));
    assert.equal(interval, 1000);
    assert.deepEqual(delivered.map((own) => [...own]), [[500, 600], [0, 200]]);
});

test("the name at a ribbon keeps its number, in smaller letters and at last without its first words", () => {
    const width = (name, size) => name.length * size * 0.6;
    assert.deepEqual(fittingName("BBRv1 8", width), ["BBRv1 8", 10]);
    assert.deepEqual(fittingName("BBRv1 12", width), ["BBRv1 12", 9]);
    assert.deepEqual(fittingName("Your own 12", width), ["own 12", 10]);
    assert.deepEqual(fittingName("unbelievable 7", width), ["7", 10]);
    assert.deepEqual(fittingName("unbelievable", width), ["unbelievable", 9]);
});

test("each ribbon has a name, and of thin ones so many that the names are apart", () => {
    assert.deepEqual(namedPlaces(8, 18), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.equal(namedPlaces(24, 10).length, 24);
    assert.deepEqual(namedPlaces(8, 8), [0, 3, 5, 7]);
    assert.deepEqual(namedPlaces(20, 4), [0, 4, 9, 14, 19]);
    assert.deepEqual(namedPlaces(60, 4).slice(-2), [54, 59]);
});
