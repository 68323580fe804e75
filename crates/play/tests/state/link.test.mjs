// What a link has of the state: `node --test crates/play/tests/state/link.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { preset } from "../../web/presets.js";
import { fragment, fromFragment } from "../../web/share.js";
import { State } from "../../web/state/state.js";

function state(values) {
    const made = new State();
    made.change(values);
    return made;
}

test("the link of a preset is short, and has the usual goal", async () => {
    const { text, name } = preset("lte");
    const short = await fragment(state({ text, preset: name }));
    assert.equal(short, "#preset=lte");
    assert.equal((await fromFragment(short)).goal, "throughput");
});

test("a link has the goal of advice, and leaves out the usual one", async () => {
    const { text, name } = preset("lte");
    const of = (goal) => fragment(state({ text, preset: name, seeds: 3, goal }));
    assert.deepEqual(await fromFragment(await of("fair")), { text, seeds: 3, source: null, goal: "fair", preset: null });
    const usual = await of("throughput");
    assert.equal((await fromFragment(usual)).goal, "throughput");
    assert.ok(usual.length < (await of("latency")).length);
});

test("a goal is one of the page's", async () => {
    for (const goal of ["", "Fair", "constructor", 0, null, ["fair"], { fair: 1 }]) {
        await assert.rejects(fragment(state({ preset: null, goal })).then(fromFragment), { message: /^the link names a goal / });
    }
});
