// What the page makes of advice: `node --test crates/play/tests/state/advice.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { choices } from "../../web/advice.js";

test("each goal has its choice, and what that leaves a neighbour", () => {
    const of = (goal, choice, neighbour_goodput, is_met = true) => ({ goal, choice, neighbour_goodput, is_met });
    const goals = [of("throughput", "bbr1", 0.0712), of("latency", "bbr3", 0.94), of("fair", "cubic", null, false)];
    assert.deepEqual(choices({ goals }).rows, [
        ["throughput", "bbr1", "0.07"], ["latency", "bbr3", "0.94"], ["fair", "cubic, but none meets the requirement", "–"],
    ]);
});
