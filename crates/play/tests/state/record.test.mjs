// What is bounded when the page reads a record, which a controller can forge: `node --test crates/play/tests/state/record.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { decode } from "../../web/record.js";
import { packets } from "../../web/views/packets.js";
import { Path } from "../../web/views/path.js";
import { Run } from "../../web/views/run.js";
import { deliveries } from "../../web/views/shares.js";

const none = { name: null, utilization: null, queue_ms: { mean: null, p95: null }, buffer_bytes: null, drops: 0, marks: 0, random_losses: 0 };
const flow = (id) => ({
    id, group: 0, controller: "bbr1", start_s: 0, completed_s: null, goodput_bps: 9e6, limit_share: 0.9, rtt_ms: { p50: 40, p95: 41 },
    sent_bytes: 3000, retransmitted_bytes: 0,
});

// A record of two flows, as the simulator writes it: { head, tables }, where a table is { column: cells } and the columns of texts are
// { texts, cells }.
function honest() {
    const controller = { texts: ["bbr1"], cells: [1, 1, 1, 1] };
    return {
        head: {
            summary: {
                scenario: "x", engine: "sim", seed: 1, duration_s: 2, wall_s: 0, path: { ...none }, next: [], flows: [flow(0), flow(1)],
                together: { goodput_bps: 18e6, limit_share: 1 }, controllers: [{ controller: "bbr1", flows: 2, goodput_bps: 18e6, limit_share: 1 }],
                completions: [], fairness: { jain: 1 },
            },
            path: {
                links: [{ name: null, rate_bps: 20e6, rtprop_ms: 40, buffer_bytes: 1e5, policer_bps: null, changes: [{ at_ms: 5, rate_bps: 0, rtprop_ms: null }] }],
                rtprops_ms: [40, 40],
            },
            payload_share: 0.96,
        },
        tables: {
            samples: {
                flow: [0, 0, 1, 1], controller, at_s: [0.5, 1, 0.25, 1], rtt_ms: [40, NaN, 40, 40], inflight_bytes: [3e4, 3e4, 3e4, 3e4],
                delivered_bytes: [1e4, 2e4, 1e4, 3e4], state: { texts: ["Startup", "ProbeBW_UP"], cells: [1, 2, 0, 1] },
            },
            throughput: { flow: [0, 0, 1, 1], controller, from_s: [0, 1, 0, 1], interval_s: [1, 1, 1, 1], delivered_bytes: [1, 2, 3, 4] },
            queue: { hop: [0], link: { texts: [], cells: [0] }, at_s: [0], queue_bytes: [0], delay_ms: [0] },
            transfers: { flow: [], controller: { texts: [], cells: [] }, start_s: [], size_bytes: [], completed_s: [], took_ms: [] },
        },
    };
}

// Its bytes. `forge` changes its head when all places are in it.
function encode({ head, tables }, forge = () => {}) {
    const columns = [];
    const places = {};
    let end = 0;
    for (const [name, table] of Object.entries(tables)) {
        const rows = (Object.values(table)[0].cells ?? Object.values(table)[0]).length;
        places[name] = { rows, columns: {} };
        for (const [column, given] of Object.entries(table)) {
            const { texts, cells = given } = given;
            const bytes = new Uint8Array((texts ? Uint16Array : Float64Array).from(cells).buffer);
            columns.push([end, bytes]);
            places[name].columns[column] = texts ? { at: end, texts } : { at: end };
            end += Math.ceil(bytes.length / 8) * 8;
        }
    }
    const whole = { ...structuredClone(head), tables: places };
    const json = new TextEncoder().encode(forge(whole) ?? JSON.stringify(whole));
    const begin = Math.ceil((4 + json.length) / 8) * 8;
    const bytes = new Uint8Array(begin + end);
    new DataView(bytes.buffer).setUint32(0, json.length, true);
    bytes.set(json, 4);
    columns.forEach(([at, own]) => bytes.set(own, begin + at));
    return bytes;
}

function refuses(name, bytes) {
    let error = null;
    try {
        decode(bytes);
    } catch (caught) {
        error = caught;
    }
    assert.ok(error, `${name}: it is read`);
    assert.match(error.message, /^it lacks [\w .]{1,60}$/, name);
}

test("an honest record is read", () => {
    const { summary, path, payload_share, samples, throughput, queue, transfers } = decode(encode(honest()));
    const { head } = honest();
    assert.deepEqual({ summary, path, payload_share }, head);
    assert.deepEqual(samples.rtt_ms, Float64Array.of(40, NaN, 40, 40));
    assert.deepEqual(samples.state, ["Startup", "ProbeBW_UP", null, "Startup"]);
    assert.deepEqual([...throughput.delivered_bytes], [1, 2, 3, 4]);
    assert.deepEqual(queue.link, [null]);
    assert.deepEqual(Object.keys(transfers), ["flow", "controller", "start_s", "size_bytes", "completed_s", "took_ms"]);
});

const deep = (levels) => "[".repeat(levels) + "]".repeat(levels);

// Each changes one thing of the head of an honest record, or gives another text in its place.
const HEADS = {
    "no JSON": () => "{",
    "no object": () => "7",
    "nothing": () => "null",
    "no summary": (head) => void delete head.summary,
    "a deep head": (head) => JSON.stringify(head).replace('"sim"', deep(5000)),
    "a head that is too deep to look at": (head) => JSON.stringify(head).replace('"sim"', deep(200_000)),
    "a huge number": (head) => JSON.stringify(head).replace('"duration_s":2', '"duration_s":1e999'),
    "a number below zero": (head) => void (head.summary.duration_s = -1),
    "a text in place of a number": (head) => void (head.path.links[0].rate_bps = "1e999"),
    "a number of drops that is a text": (head) => void (head.summary.path.drops = "x".repeat(9000)),
    "a text in place of a list": (head) => void (head.summary.flows = "flows"),
    "an object with a length in place of a list": (head) => void (head.summary.next = { length: 1e9 }),
    "too many flows": (head) => void (head.summary.flows = Array.from({ length: 1001 }, (_, id) => flow(id))),
    "flows in another order": (head) => void head.summary.flows.reverse(),
    "too many links": (head) => void (head.summary.next = Array(1001).fill(none)),
    "too many lines of transfers": (head) => void (head.summary.completions = Array(601).fill({ controller: "bbr1", count: 0, unfinished: 0 })),
    "too many controllers": (head) => void (head.summary.controllers = Array(101).fill({ controller: "bbr1", goodput_bps: 0 })),
    "too many changes": (head) => void (head.path.links[0].changes = Array(10_001).fill({ at_ms: 0 })),
    "a name that is a paragraph": (head) => void (head.summary.flows[0].controller = "bbr ".repeat(100)),
    "a name that turns what follows it": (head) => void (head.summary.path.name = "a\u202Eb"),
    "Jain's index as an object": (head) => void (head.summary.fairness.jain = { toFixed: 1 }),
    "no RTprop of a flow": (head) => void head.path.rtprops_ms.pop(),
    "more payload than there is": (head) => void (head.payload_share = 1e9),
    "no tables": (head) => void delete head.tables,
    "another table": (head) => void (head.tables.more = head.tables.queue),
    "a table that is null": (head) => void (head.tables.queue = null),
    "columns that are a text": (head) => void (head.tables.queue.columns = "hop"),
    "no column of the keys": (head) => void delete head.tables.samples.columns.flow,
    "no column of the times": (head) => void delete head.tables.queue.columns.at_s,
    "many columns": (head) => void Array.from({ length: 50 }, (_, n) => (head.tables.transfers.columns[`more_${n}`] = { at: 0 })),
    "a column that is the prototype": (head) => JSON.stringify(head).replace('"rtt_ms":{"at"', '"__proto__":{"at"'),
    "a column in place of another": (head) => void (head.tables.samples.columns.rtt_ms.at += 8),
    "a column that is null": (head) => void (head.tables.samples.columns.rtt_ms = null),
    "a column before all": (head) => void (head.tables.samples.columns.flow.at = -8),
    "a column at no place": (head) => void (head.tables.samples.columns.flow.at = "0"),
    "cells that overlap": (head) => void (head.tables.throughput.columns.interval_s.at = head.tables.throughput.columns.from_s.at),
    "texts where numbers are": (head) => void (head.tables.samples.columns.rtt_ms.texts = ["1e999"]),
    "numbers where texts are": (head) => void delete head.tables.samples.columns.state.texts,
    "texts that are no texts": (head) => void (head.tables.samples.columns.state.texts = [7, {}]),
    "texts that are long": (head) => void (head.tables.samples.columns.state.texts = ["x".repeat(61), "y"]),
    "too few texts": (head) => void (head.tables.samples.columns.state.texts = ["Startup"]),
    "rows below zero": (head) => void (head.tables.transfers.rows = -1),
    "a part of a row": (head) => void (head.tables.transfers.rows = 0.5),
    "more rows than there are bytes": (head) => void (head.tables.transfers.rows = 499_999),
    "so many rows": (head) => void (head.tables.transfers.rows = 2 ** 53),
    "rows that are a text": (head) => void (head.tables.samples.rows = "4"),
};

for (const [name, forge] of Object.entries(HEADS)) {
    test(`a forged head: ${name}`, () => refuses(name, encode(honest(), forge)));
}

// Each changes cells of an honest record.
const CELLS = {
    "infinite": ({ samples }) => void (samples.inflight_bytes[1] = Infinity),
    "huge": ({ samples }) => void (samples.delivered_bytes[3] = 1e300),
    "below zero": ({ queue }) => void (queue.queue_bytes[0] = -1),
    "no time": ({ samples }) => void (samples.at_s[1] = NaN),
    "no flow": ({ samples }) => void (samples.flow[0] = NaN),
    "a part of a flow": ({ samples }) => void (samples.flow[0] = 0.5),
    "a flow that there is not": ({ throughput }) => void (throughput.flow[3] = 2),
    "a bottleneck that there is not": ({ queue }) => void (queue.hop[0] = 1),
    "times that go back": ({ samples }) => void (samples.at_s[1] = 0.4),
    "flows that are not together": ({ samples }) => void samples.flow.splice(0, 4, 0, 1, 0, 1),
};

for (const [name, forge] of Object.entries(CELLS)) {
    test(`forged cells: ${name}`, () => {
        const record = honest();
        forge(record.tables);
        refuses(name, encode(record));
    });
}

test("bytes that are no record", () => {
    refuses("none", new Uint8Array(0));
    refuses("zeros", new Uint8Array(1000));
    const length = Uint32Array.of(0xffff_ffff, 0);
    refuses("a head that is longer than all", new Uint8Array(length.buffer));
    const bytes = encode(honest());
    refuses("too short", bytes.slice(0, -8));
    refuses("too long", Uint8Array.from([...bytes, ...new Uint8Array(8)]));
    for (let at = 0; at < bytes.length; at += 7) {
        refuses(`cut at ${at}`, bytes.slice(0, at));
    }
});

// A record of one flow with so many samples of zeros.
function zeros(rows) {
    const record = honest();
    const { samples } = record.tables;
    record.tables.samples = Object.fromEntries(Object.keys(samples).filter((name) => !samples[name].texts).map((name) => [name, new Float64Array(rows)]));
    return record;
}

test("a flow has as many samples as the simulator keeps of one, and no more", () => {
    assert.equal(decode(encode(zeros(20_002))).samples.flow.length, 20_002);
    refuses("more", encode(zeros(20_011)));
});

test("there are at most 500,000 transfers", () => {
    const record = honest();
    const of = (rows) => (record.tables.transfers = { flow: new Float64Array(rows), start_s: new Float64Array(rows) });
    of(500_000);
    assert.equal(decode(encode(record)).transfers.flow.length, 500_000);
    of(500_001);
    refuses("more", encode(record));
});

// What pictures do with numbers that a record may have, and that no path gives.
test("a picture of the packets has so many squares at most", () => {
    const record = honest();
    for (const [inflight, delivered] of [[2 ** 64, 2 ** 64], [2 ** 64, 0], [1e9, 1e11]]) {
        record.tables.samples.inflight_bytes.fill(inflight);
        record.tables.samples.delivered_bytes = [delivered, delivered, delivered, delivered];
        const { flows } = new Run(decode(encode(record)));
        const { waiting, moving } = packets(flows, 1000, { unit: 1448, rate_bps: 1, rtpropOf: () => 1 });
        assert.ok(waiting.length + moving.length <= 10_000, `${waiting.length} and ${moving.length}`);
    }
});

test("shares have as many intervals as the simulator keeps at most", () => {
    const record = honest();
    record.tables.samples.delivered_bytes = [2, 1, 2, 1];
    for (const interval of [0, 1e-300, 2 ** -60]) {
        record.tables.throughput = { flow: [], from_s: [], interval_s: [], delivered_bytes: [] };
        for (let row = 0; row < 2 * 4096; row++) {
            record.tables.throughput.flow.push(Math.floor(row / 4096));
            record.tables.throughput.from_s.push(0);
            record.tables.throughput.interval_s.push(interval);
            record.tables.throughput.delivered_bytes.push(1);
        }
        const { ends, delivered } = deliveries(new Run(decode(encode(record))));
        assert.ok(ends.length <= 4096 && delivered.every((own) => own.length === ends.length), ends.length);
    }
});

test("a path with many changes is looked at as often as it has changes, and not as their square", () => {
    let looked = 0;
    const change = (place) => ({ get at_ms() { return looked++, place; }, rate_bps: 1 + place, rtprop_ms: null });
    const path = new Path({ links: [{ rate_bps: 1, rtprop_ms: 40, changes: Array.from({ length: 10_000 }, (_, place) => change(place)) }] });
    const steps = path.steps((time) => path.at(time).rate_bps);
    assert.deepEqual([steps[1], steps.at(-1)], [[0, 1], [9999, 10_000]]);
    assert.equal(looked, 10_000);
});
