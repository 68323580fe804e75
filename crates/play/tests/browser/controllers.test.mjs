// Controllers in JavaScript: they run, their errors have their line, they are ended, and they can send nothing anywhere.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { OF_PROGRAM, OPEN } from "./headers.mjs";
import { visit } from "./page.mjs";
import { serve } from "./serve.mjs";
import { opened } from "./setup.mjs";

const scenario = (controller) => `name='x'\nduration='2s'\npath={rate='20mbit',rtt='40ms'}\nflow=[{controller='${controller}'}]`;
const source = (name) => readFileSync(new URL(`../../web/controllers/${name}.js`, import.meta.url), "utf8");

// Waits until something holds, and rejects if it never does.
async function until(holds) {
    for (let times = 0; !holds(); times++) {
        assert.ok(times < 600, "it never holds");
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}

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

for (const [name, headers] of [["", OPEN], [" with the headers of the program", OF_PROGRAM]]) {
    test(`a controller has no storage and no network of the page's origin${name}`, async (t) => {
        const server = await serve(opened.folder, headers);
        t.after(server.close);
        const { page, context } = await visit(opened.browser, server.address);
        await page.evaluate(() => {
            window.heard = [];
            new BroadcastChannel("x").onmessage = ({ data }) => window.heard.push(data);
            document.cookie = "own=1";
        });
        const spy = `
            const { address } = ${JSON.stringify(server)};
            const attempts = {
                origin: () => self.origin !== "null",
                indexedDB: () => new Promise((resolve, reject) => (indexedDB.open("x").onsuccess = resolve)),
                caches: () => caches.open("x"),
                files: () => navigator.storage.getDirectory(),
                cookies: () => cookieStore.getAll(),
                locks: () => navigator.locks.request("x", () => {}),
                fetch: () => fetch(address),
                request: () => { const request = new XMLHttpRequest(); request.open("GET", address, false); request.send(); },
                socket: () => new Promise((resolve, reject) => Object.assign(new WebSocket(address.replace("http", "ws")), { onopen: resolve, onerror: reject })),
                events: () => new Promise((resolve, reject) => Object.assign(new EventSource(address), { onopen: resolve, onerror: reject })),
                import: () => import(address + "dom.js"),
                scripts: () => importScripts(address + "dom.js"),
                text: () => Function("return this")(),
                font: () => new FontFace("x", "url(" + address + ")").load(),
            };
            const done = [];
            for (const [name, attempt] of Object.entries(attempts)) {
                try {
                    await attempt() !== false && done.push(name);
                } catch {}
            }
            new BroadcastChannel("x").postMessage("from the sandbox");
            export default class Spy { on_ack() { throw new Error("could: " + done + "."); } }`;
        assert.match((await run(page, "js:Spy", { Spy: spy })).message, /could: \.$/);
        assert.deepEqual(await page.evaluate(() => window.heard), []);
        await context.close();
    });
}

test("a controller says what it imports, and imports nothing of a server", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const own = "// Import and from are words.\nexport default class Mine {\n    on_ack() { return [Array.from([1e5])[0], 1e7]; }\n}\n";
    assert.ok((await run(page, "js:Mine", { Mine: own })).goodputs);
    const { message } = await run(page, "js:Mine", { Mine: `import "${opened.address}dom.js";\n${own}` });
    assert.match(message, /^js:Mine: TypeError: Failed to fetch dynamically imported module/);
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
        const real = Uint8Array.prototype.slice;
        Uint8Array.prototype.slice = function () {
            const record = real.call(this);
            const bytes = record.subarray(4, 4 + new DataView(record.buffer).getUint32(0, true));
            bytes.set(new TextEncoder().encode(new TextDecoder().decode(bytes).replace(/"goodput_bps":\\d/g, '"goodput_bps":9')));
            return record;
        };
        export default class Forger { on_ack() { return [1e5, 1e7]; } }`;
    const forged = await run(page, "js:Forger", { Forger: forger });
    assert.match(String(forged.goodputs[0]), /^9/, "a controller can forge its own record");
    for (let runs = 0; runs < 4; runs++) {
        assert.deepEqual(await run(page, "reno"), honest);
    }
    await context.close();
});

test("a controller finds no way to the page's port", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    const seeker = `
        const found = new Set();
        const { get: targetOf } = Object.getOwnPropertyDescriptor(Event.prototype, "target");
        const look = (it) => {
            const seen = it instanceof Event ? Reflect.apply(targetOf, it, []) : it;
            seen instanceof MessagePort && found.add(seen);
        };
        for (const owner of [MessagePort.prototype, EventTarget.prototype, Event.prototype, MessageEvent.prototype, Function.prototype, Promise.prototype, Array.prototype]) {
            for (const [name, own] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
                for (const key of ["value", "get", "set"]) {
                    const real = own[key];
                    if (typeof real === "function" && name !== "constructor") {
                        own[key] = function (...given) {
                            look(this);
                            for (let place = 0; place < given.length; place++) {
                                look(given[place]);
                            }
                            const said = Reflect.apply(real, this, given);
                            look(said);
                            return said;
                        };
                    }
                }
                try { Object.defineProperty(owner, name, own); } catch {}
            }
        }
        export default class Seeker {
            on_ack({ now_ns }) {
                for (const port of found) {
                    for (let id = 0; id < 50; id++) {
                        port.postMessage({ id, error: { message: "reached" } });
                    }
                }
                return [1e5, 1e7];
            }
        }`;
    // The second run is in the worker of the first, which hears of it when the controller is there.
    const said = await page.evaluate(async ([text, Seeker]) => {
        const engine = await (await import("./engine.js")).openEngine();
        const run = (text, hear) => engine.run(text, { slot: 0, controllers: { Seeker } }, { record: hear, error: ({ message }) => hear(null, message) });
        await new Promise((heard) => run(text.replace("2s", "2000s"), heard));
        return new Promise((resolve) => run(text, (record, done) => done && resolve(done)));
    }, [scenario("js:Seeker"), seeker]);
    assert.equal(said, true);
    const words = "export default class Mine { on_ack() { for (let id = 0; ; id++) { self.postMessage({ id: id % 50 }); } } }";
    assert.match((await run(page, "js:Mine", { Mine: words })).message, /a controller posts no messages/);
    assert.deepEqual(heard, []);
    await context.close();
});

test("what a controller throws is one line", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    const thrower = (thrown) => `export default class Thrower { on_ack() { throw ${thrown}; } }`;
    for (const [source, part] of [
        [thrower("{ toString() { throw null; } }"), "no text"],
        [thrower("new Error('x'.repeat(1e6))"), "xxx"],
        [thrower("new Error('a\u202Eb')"), "a\\u{202E}b"],
    ]) {
        const error = await run(page, "js:Mine", { Mine: source });
        assert.ok(error.message?.includes(part), JSON.stringify(error).slice(0, 300));
        assert.ok(error.message.length < 600, error.message.length);
    }
    assert.deepEqual(heard, []);
    await context.close();
});

// A worker that says what it likes stands in for a controller that has found a way to the port after all.
const STRANGE = {
    "a flood": ["for (let times = 0; times < 1e5; times++) { say({ id }); }", "more than a page can hear"],
    "nothing": ["say(null); say({ id, done: true });", "cannot be read"],
    "a number": ["say({ id, record: 5 });", "cannot be read"],
    "zeros": ["say({ id, record: new Uint8Array(64) });", "cannot be read"],
    "an error of nothing": ["say({ id, error: null });", "no text"],
    "an error that is no text": ["say({ id, error: { message: {} } });", "no text"],
};

for (const [name, [script, part]] of Object.entries(STRANGE)) {
    test(`what a worker says ends its run in one line: ${name}`, async () => {
        const { page, context, heard } = await visit(opened.browser, opened.address);
        await page.route("**/worker.js", (route) => route.fulfill({ contentType: "text/javascript", body: `export function serve(port) {
            const say = (message) => port.postMessage(message);
            port.onmessage = ({ data: { id } }) => { ${script} };
            say({ ready: true });
        }` }));
        const { message } = await run(page, "reno");
        assert.ok(message.includes(part), message);
        assert.deepEqual(heard, []);
        await context.close();
    });
}

test("a controller that hangs is ended, and a sandbox that does not answer", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const hang = "export default class Mine { on_ack() { for (;;); } }";
    assert.match((await run(page, "js:Mine", { Mine: hang })).message, /did not return within 3 seconds/);
    await until(() => page.workers().every((worker) => !worker.url().startsWith("blob:null")));
    await page.evaluate(async ([text, Fixed]) => {
        window.long = await new Promise((resolve) => {
            const long = window.engine.run(text, { controllers: { Fixed } }, { record: () => resolve(long), error: resolve });
        });
    }, [scenario("js:Fixed").replace("2s", "3000s"), source("fixed")]);
    const [, frame] = page.frames();
    await frame.evaluate(() => setTimeout(() => { for (;;); }));
    await page.waitForTimeout(500);
    await page.evaluate(() => window.long.cancel());
    await page.waitForFunction(() => document.querySelector("iframe") === null);
    assert.ok((await run(page, "js:Fixed", { Fixed: source("fixed") })).goodputs, "the next sandbox");
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
