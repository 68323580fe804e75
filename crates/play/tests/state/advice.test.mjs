// What the page adds to the words of advice: `node --test crates/play/tests/state/advice.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { goals, taken } from "../../web/advice.js";

const of = (goal, choice, neighbour_goodput, is_met = true) => ({ goal, choice, neighbour_goodput, is_met });
const ALL = [of("throughput", "bbr1", 0.0712), of("latency", "bbr3", 0.94), of("fair", "cubic", null, false)];

test("the headline says what a neighbour keeps, and that what is taken from it counts as a gain", () => {
    const [loss, counts, ...others] = taken({ goal: "throughput", goals: ALL });
    assert.equal(loss, "Beside bbr1, a CUBIC flow keeps 0.07 of the goodput that it has beside another CUBIC flow.");
    assert.match(counts, /mean of that alone and that beside CUBIC/);
    assert.deepEqual(others, []);
    assert.equal(taken({ goal: "latency", goals: ALL }).length, 1);
    assert.deepEqual(taken({ goal: "fair", goals: ALL }), []);
    assert.deepEqual(taken({ goal: "fair", goals: [of("fair", "reno", 0.95)] }), []);
});

test("each goal has its choice", () => {
    assert.deepEqual(goals({ goals: ALL }).rows.map((row) => row.slice(0, 3)), [
        ["throughput", "bbr1", "0.07"], ["latency", "bbr3", "0.94"], ["fair", "cubic, but none meets the requirement", "–"],
    ]);
});
