// Controllers in JavaScript: they run, their errors have their line, they are ended, and they can send nothing anywhere.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const scenario = (controller) => `name='x'\nduration='2s'\npath={rate='20mbit',rtt='40ms'}\nflow=[{controller='${controller}'}]`;
const source = (name) => readFileSync(new URL(`../../web/controllers/${name}.js`, import.meta.url), "utf8");

// Runs the scenario in the page. Resolves to the error, or the goodputs and the states.
function run(page, name, controllers) {
    return page.evaluate(async ([text, controllers]) => {
        const { openEngine } = await import("./engine.js");
        window.engine ??= await openEngine();
        return new Promise((resolve) => {
            const record = ({ summary, samples }, done) =>
                done && resolve({ goodputs: summary.flows.map((flow) => flow.goodput_bps), states: [...new Set(samples.state)] });
            window.engine.run(text, { controllers }, { record, error: resolve });
        });
    }, [scenario(name), controllers]);
}

test("a controller runs as the simulator's own does", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    const own = await run(page, "reno");
    assert.deepEqual(await run(page, "js:Reno", { Reno: source("reno") }), own);
    const fixed = await run(page, "js:Fixed", { Fixed: source("fixed") });
    assert.notDeepEqual(fixed, own);
    assert.deepEqual(fixed.states, ["CongestionAvoidance"]);
    assert.deepEqual(heard, []);
    await context.close();
});

test("an error has the line of the source", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const method = (body) => `export default class Mine {\n    on_ack(ack) {\n        ${body}\n    }\n}\n`;
    for (const [mine, line, part] of [
        [method("return [1, 2;"), 3, "SyntaxError"],
        ["export default class Mine {\n    on_ack(ack) {", 2, "SyntaxError"],
        [method("return [ack.nothing.there, 1];"), 3, "TypeError"],
        ["\n\nthrow new Error('at once');\n", 3, "at once"],
        [method("return 5;"), 2, "on_ack: 5 is not a window with a pacing rate"],
        [method("return [1, 1e6];"), 2, "a window of 1 bytes is less than a packet"],
        [method("return [1e5, NaN];"), 2, "on_ack: [100000, NaN] is not a window"],
        [method("this.state = 'Happy'; return [1e5, 1e6];"), 3, "state: Happy is not a state"],
        ["class Mine {}", null, "export the class"],
        ["export default class Mine {}", null, "on_ack is missing"],
        [method("for (;;);"), null, "did not return within 3 seconds"],
    ]) {
        const error = await run(page, "js:Mine", { Mine: mine });
        assert.equal(error.where, "js:Mine", mine);
        assert.equal(error.line, line, `${mine}: ${error.message}`);
        assert.ok(error.message.includes(part), error.message);
    }
    const missing = await run(page, "js:Other", { Mine: source("fixed") });
    assert.match(missing.message, /^js:Other: there is no controller with this name/);
    assert.ok((await run(page, "reno")).goodputs, "the next run has a worker");
    await context.close();
});

test("a controller can send nothing anywhere", async () => {
    const asked = [];
    const listener = createServer((request, response) => {
        asked.push(request.url);
        response.writeHead(200, { "access-control-allow-origin": "*", "content-type": "text/javascript" }).end();
    });
    await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
    const elsewhere = `http://127.0.0.1:${listener.address().port}`;
    const { page, context } = await visit(opened.browser, opened.address);
    const spy = `export default class Spy {
        constructor() {
            fetch("${elsewhere}/fetch").catch(() => {});
            import("${elsewhere}/import.js").catch(() => {});
            try { new WebSocket("${elsewhere}/socket".replace("http", "ws")); } catch {}
            try { importScripts("${elsewhere}/scripts.js"); } catch {}
        }
        on_ack() { return [1e5, 1e7]; }
    }`;
    assert.ok((await run(page, "js:Spy", { Spy: spy })).goodputs);
    await page.waitForTimeout(500);
    assert.deepEqual(asked, []);
    await context.close();
    listener.close();
});
