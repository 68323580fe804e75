// Controllers in JavaScript: they run, their errors have their line, they are ended, and they can send nothing anywhere.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
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
        ["export default class Mine {\n    get on_ack() {\n        throw new Error('got');\n    }\n}\n", 3, "Error: got"],
        [method("for (;;);"), null, "did not return within 3 seconds"],
    ]) {
        const error = await run(page, "js:Mine", { Mine: mine });
        assert.equal(error.where, "js:Mine", mine);
        assert.equal(error.line, line, `${mine}: ${error.message}`);
        assert.ok(error.message.includes(part), error.message);
    }
    for (const other of ["Other", "__proto__", "constructor"]) {
        const missing = await run(page, `js:${other}`, { Mine: source("fixed") });
        assert.ok(missing.message.startsWith(`js:${other}: there is no controller with this name`), missing.message);
    }
    assert.ok((await run(page, "reno")).goodputs, "the next run has a worker");
    await context.close();
});

test("a controller has no storage of the page's origin, no network, and no worker of its own", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const spy = `export default class Spy {
        on_ack() {
            const names = ["indexedDB", "caches", "navigator", "BroadcastChannel", "Worker", "fetch", "XMLHttpRequest", "WebSocket"];
            const found = names.filter((name) => name in self || name in WorkerGlobalScope.prototype);
            const code = (() => { try { return Function("return this")() && "code"; } catch { return "no code"; } })();
            throw new Error("found " + found + "; " + code);
        }
    }`;
    assert.match((await run(page, "js:Spy", { Spy: spy })).message, /found ; no code$/);
    await context.close();
});

test("a controller imports nothing", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const own = "export default class Mine {\n    on_ack() { return [Array.from([1e5])[0], 1e7]; }\n}\n";
    assert.ok((await run(page, "js:Mine", { Mine: own })).goodputs, "a method has that name, too");
    for (const [mine, line] of [
        ['import "./play.js";\n' + own, 1],
        [own + 'export { Play } from "./play.js";', 4],
        [own + 'export */**/from"./play.js";', 4],
        [own.replace("return", 'import("./play.js"); return'), 2],
    ]) {
        const { message, line: told } = await run(page, "js:Mine", { Mine: mine });
        assert.match(message, /imports nothing/, mine);
        assert.equal(told, line, mine);
    }
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
            try { fetch("${elsewhere}/fetch").catch(() => {}); } catch {}
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

// A worker of a file has the policy of that file's answer, which on most servers is none.
for (const file of ["", "fullpipe.html"]) {
    test(`a controller starts no worker of a file: ${file || "index.html"}`, async () => {
        const { page, context } = await visit(opened.browser, opened.address + file);
        const spy = `
            const said = await new Promise((resolve) => {
                const nested = new Worker("${opened.address}worker.js", { type: "module" });
                nested.onerror = ({ message }) => resolve(message ? "started: " + message : "refused");
                setTimeout(resolve, 1000, "started");
            }).catch(() => "refused");
            export default class Spy { on_ack() { throw new Error(said); } }`;
        const state = { text: scenario("js:Mine"), seeds: 1, source: spy };
        const hash = deflateRawSync(JSON.stringify(state)).toString("base64url");
        await page.goto(`${opened.address}${file}?again#s=${hash}`);
        await page.getByRole("button", { name: "Run it" }).click();
        await page.waitForFunction(() => document.querySelector("#problem").textContent !== "");
        assert.match(await page.textContent("#problem"), /Error: refused/);
        await context.close();
    });
}

test("the address of the page is in no stack of a controller", async () => {
    const { page, context } = await visit(opened.browser, `${opened.address}?secret`);
    const spy = `export default class Spy {
        on_ack() { throw new Error([new Error().stack, location.href, ...performance.getEntries().map(({ name }) => name)].join(" ")); }
    }`;
    const { message } = await run(page, "js:Spy", { Spy: spy });
    assert.match(message, /Spy/);
    assert.doesNotMatch(message.replaceAll("blob:http", "blob"), /https?:/);
    await context.close();
});

test("a run after that of a controller has a worker of its own", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const honest = await run(page, "reno");
    const forger = `
        const real = self.postMessage.bind(self);
        self.postMessage = (message, transfer) => {
            if (message.record) {
                const bytes = new Uint8Array(message.record.buffer, 4, new DataView(message.record.buffer).getUint32(0, true));
                const text = new TextDecoder().decode(bytes);
                bytes.set(new TextEncoder().encode(text.replace(/"goodput_bps":\\d/g, '"goodput_bps":9')));
            }
            real(message, transfer);
        };
        export default class Forger { on_ack() { return [1e5, 1e7]; } }`;
    const forged = await run(page, "js:Forger", { Forger: forger });
    assert.match(String(forged.goodputs[0]), /^9/, "a controller can forge its own record");
    for (let runs = 0; runs < 4; runs++) {
        assert.deepEqual(await run(page, "reno"), honest);
    }
    await context.close();
});

test("what a controller says in its worker's place ends its run in one line", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    const liar = (said) => `
        const real = self.postMessage.bind(self);
        self.postMessage = ({ id }) => { real(null); real({}); real(${said}); };
        export default class Liar { on_ack() { return [1e5, 1e7]; } }`;
    const record = (other) => JSON.stringify({ summary: { duration_s: 1, flows: [] }, path: { links: [], rtprops_ms: [] }, payload_share: 1, tables: {}, ...other });
    const forged = (head) => `{ id, done: true, record: new Uint8Array([${head.length & 255}, ${head.length >> 8}, 0, 0, ...new TextEncoder().encode(${JSON.stringify(head)})]) }`;
    const thrower = (thrown) => `export default class Thrower { on_ack() { throw ${thrown}; } }`;
    for (const [source, part] of [
        [liar("{ id, done: true }"), "cannot be read"],
        [liar("{ id, record: 5 }"), "cannot be read"],
        [liar("{ id, record: new Uint8Array(64) }"), "cannot be read"],
        [liar(forged("{}")), "cannot be read"],
        [liar(forged(record({ summary: { duration_s: 1e300, flows: [] } }))), "it lacks its duration"],
        [liar(forged(record({ summary: { duration_s: 1, flows: [{ id: 7 }] } }))), "it lacks its flows"],
        [liar(forged(record({ tables: { samples: { rows: 1, columns: {} } } }))), "it lacks its tables"],
        [liar("{ id, error: null }"), "no text"],
        [liar("{ id, error: { message: { toString: 1 } } }"), "no text"],
        [thrower("{ toString() { throw null; } }"), "no text"],
        [thrower("new Error('x'.repeat(1e6))"), "xxx"],
    ]) {
        const error = await run(page, "js:Mine", { Mine: source });
        assert.ok(error.message?.includes(part), JSON.stringify(error).slice(0, 300));
        assert.ok(error.message.length < 600, error.message.length);
    }
    assert.deepEqual(heard, []);
    await context.close();
});

test("an answer is read once, and a window has at most 1 GB", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const sly = `export default class Sly {
        on_ack() { const said = [NaN, NaN]; said.every = () => true; return said; }
    }`;
    assert.match((await run(page, "js:Sly", { Sly: sly })).message, /is not a window/);
    const fixed = (window) => `export default class Fixed { on_ack() { return [${window}, 1e9]; } }`;
    const most = await run(page, "js:Fixed", { Fixed: fixed("1e9") });
    assert.ok(most.goodputs);
    assert.deepEqual(await run(page, "js:Fixed", { Fixed: fixed("Infinity") }), most);
    await context.close();
});
