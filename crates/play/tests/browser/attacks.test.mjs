// Controllers of somebody who means harm, in the page on a server, on a disk, and with the headers of the program: the page says one line,
// asks nobody for anything, and goes on.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { OF_PROGRAM } from "./headers.mjs";
import { after, numbers, visit } from "./page.mjs";
import { serve } from "./serve.mjs";
import { opened } from "./setup.mjs";

const HONEST = "export default class Mine { on_ack() { return [60_000, 9e6]; } }";
const [DONE, ENDED, UNREAD] = [/^$/, /did not return within 3 seconds, and was ended$/, /^the record of the run cannot be read, and the run was ended: it lacks /];

// Somebody to be told of what a controller finds. Resolves to an address, and lists that grow with each connection and each request.
async function listen(t) {
    const reached = [], asked = [];
    const listener = createServer((socket) => {
        reached.push("a connection");
        socket.on("data", (bytes) => asked.push(String(bytes).slice(0, 100))).on("error", () => {});
    });
    await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
    t.after(() => listener.close());
    return { address: `http://127.0.0.1:${listener.address().port}/`, reached, asked };
}

// The one line that the page says, without its button.
async function problem(page) {
    const line = page.locator("#problem");
    return (await line.isVisible()) ? (await line.textContent()).replace(/\s+show$/, "") : "";
}

// Tries all of these before the run, each as text, and names those that work.
const tries = (address, attempts) => `
    const address = "${address}";
    const done = [];
    for (const [name, attempt] of Object.entries({ ${Object.entries(attempts).map(([name, text]) => `${name}: async () => ${text}`).join(", ")} })) {
        await Promise.race([attempt(), new Promise((_, late) => setTimeout(late, 500))]).then((said) => said === false || done.push(name), () => {});
    }
    export default class Mine { on_ack() { throw new Error("could: " + done + "."); } }`;

const OTHERS = {
    alert: "alert(1)", confirm: "confirm(1)", open: "open(address)", parent: "parent.postMessage(1, '*')", top: "top.location", opener: "opener.location",
    frames: "frames[0]", page: "document.title", navigation: "{ location.href = address; }", replacement: "location.replace(address)",
    history: "history.pushState(1, '', '/')", worker: "new Worker(URL.createObjectURL(new Blob(['1'])))", shared: "new SharedWorker(address)",
    service: "navigator.serviceWorker.register(address)", channel: "self.postMessage.call(parent, 1)",
};
const NETWORK = {
    fetch: "fetch(address)", blind: "fetch(address, { mode: 'no-cors' })", late: "fetch(address, { method: 'POST', body: 'x', keepalive: true })",
    request: "{ const it = new XMLHttpRequest(); it.open('GET', address, false); it.send(); }", beacon: "navigator.sendBeacon(address, 'x')",
    socket: "new Promise((yes, no) => Object.assign(new WebSocket(address.replace('http', 'ws')), { onopen: yes, onerror: no }))",
    streams: "new WebSocketStream(address.replace('http', 'ws')).opened", transport: "new WebTransport(address.replace('http', 'https')).ready",
    rtc: "new RTCPeerConnection({ iceServers: [{ urls: address.replace('http://', 'stun:') }] })",
    events: "new Promise((yes, no) => Object.assign(new EventSource(address), { onopen: yes, onerror: no }))",
    module: "import(address + 'x.js')", json: "import(address + 'x.json', { with: { type: 'json' } })", css: "import(address + 'x.css', { with: { type: 'css' } })",
    scripts: "importScripts(address)", font: "new FontFace('x', 'url(' + address + ')').load()", image: "{ new Image().src = address; }",
    code: "WebAssembly.compileStreaming(fetch(address))",
};
const STORAGE = {
    local: "localStorage.x", session: "sessionStorage.x", cookie: "document.cookie", cookies: "cookieStore.getAll()", caches: "caches.open('x')",
    database: "new Promise((yes, no) => Object.assign(indexedDB.open('x'), { onsuccess: yes, onerror: no }))", files: "navigator.storage.getDirectory()",
    persists: "navigator.storage.persist()", locks: "navigator.locks.request('x', () => {})", text: "Function('return 1')()", evaluated: "(0, eval)('1')",
};

const before = (script) => `${script}\n${HONEST}`;
const onAck = (script) => `export default class Mine { on_ack({ now_ns }) { ${script}; return [60_000, 9e6]; } }`;
// What the module gives the worker goes through this; a record is the longest of all.
const forged = (forge) => before(`
    const real = Uint8Array.prototype.slice;
    Uint8Array.prototype.slice = function (...given) {
        const bytes = real.apply(this, given);
        return bytes.length > 5000 ? forge(bytes) : bytes;
    };
    function forge(bytes) { ${forge} }`);
// The same head with another summary.
const headed = (change) => forged(`
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    (${change})(head);
    const json = new TextEncoder().encode(JSON.stringify(head));
    const cells = bytes.subarray(Math.ceil((4 + length) / 8) * 8);
    const begin = Math.ceil((4 + json.length) / 8) * 8;
    const made = new Uint8Array(begin + cells.length);
    new DataView(made.buffer).setUint32(0, json.length, true);
    made.set(json, 4);
    made.set(cells, begin);
    return made;`);

// What a controller does, and what the page says.
const ATTACKS = {
    "a forged message": [before("self.postMessage({ id: 1, done: true });"), /a controller posts no messages$/],
    "a flood of messages": [onAck("for (;;) self.postMessage(new Uint8Array(1e5))"), /a controller posts no messages$/],
    "messages after its time": [before("setInterval(() => self.postMessage(1), 3600e3);"), DONE],
    "an error of a timer": [before("setTimeout(() => { throw new Error('a\\nb '.repeat(1e5)); });\nawait new Promise((later) => setTimeout(later, 100));"), /^.{1,600}$/],
    "an error with a name of somebody's": [forged("throw Object.assign(new Error('forged'), { where: 'x'.repeat(1e6), line: 1e300 });"), /^forged$/],
    "an error of many lines": [onAck("throw new Error('a\\n'.repeat(200))"), /Error: a a a/],
    "no array is what it was": [before("for (const name of ['push', 'map', 'forEach', 'slice', 'join']) Array.prototype[name] = () => { throw new Error('mine'); };"), /^.{0,600}$/],
    "no object is what it was": [before("for (const name of ['id', 'record', 'done', 'then', 'buffer']) Object.defineProperty(Object.prototype, name, { get() { return 7; }, set() {} });"), /^.{0,600}$/],
    "a module of somebody's": [before("WebAssembly.Instance = class { exports = { memory: { buffer: new ArrayBuffer(8) } }; };"), /^.{1,600}$/],
    "a clock that stands": [before("performance.now = () => NaN;"), /^.{0,600}$/],
    "a record of zeros": [forged("return new Uint8Array(64);"), UNREAD],
    "a record that is none": [forged("return { buffer: 'x' };"), /^.{1,600}$/],
    "a record of nothing": [forged("return null;"), /^.{1,600}$/],
    "a record with a paragraph for a name": [headed("({ summary }) => (summary.flows[0].controller = 'x '.repeat(1e5))"), UNREAD],
    "a record with a text for a number": [headed("({ summary }) => (summary.path.drops = '<b>x</b>'.repeat(1e5))"), UNREAD],
    "a record with a million lines": [headed("({ summary }) => (summary.completions = Array(1e4).fill({ controller: 'x', count: 1, unfinished: 1 }))"), UNREAD],
    "a record that goes deep": [headed("({ summary }) => { let it = []; for (let n = 0; n < 3000; n++) it = [it]; summary.deep = it; }"), UNREAD],
    "a record of no flow": [headed("({ summary, path }) => { summary.flows = []; path.rtprops_ms = []; }"), UNREAD],
    "a record with huge numbers": [forged(`
        const length = new DataView(bytes.buffer).getUint32(0, true);
        const { tables: { samples: { rows, columns } } } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
        const cells = Math.ceil((4 + length) / 8) * 8;
        for (const name of ["inflight_bytes", "delivered_bytes", "rtt_ms"]) {
            new Float64Array(bytes.buffer, cells + columns[name].at, rows).fill(2 ** 64);
        }
        return bytes;`), DONE],
};
// Longer than a slice of a run: what comes after it comes in another task.
const SLICE = "for (const began = Date.now(); Date.now() - began < 20;)";
// These take the page's patience of three seconds each.
const SILENT = {
    "ports that say nothing": [before("self.postMessage = MessagePort.prototype.postMessage = MessagePort.prototype.close = () => {};"), ENDED],
    "a worker that closes itself": [onAck(`self.close(); ${SLICE}`), ENDED],
    "a wait for ever": [onAck("Atomics.wait(new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer), 0, 0)"), ENDED],
    "a source that is never read to its end": [before("await new Promise(() => {});"), ENDED],
    "a pattern that takes for ever": [onAck("/^(a+)+$/.test('a'.repeat(60) + 'b')"), ENDED],
};

const PLACES = {
    "on a server": { address: () => opened.address, more: SILENT },
    "on a disk": { address: () => pathToFileURL(`${opened.folder}/fullpipe.html`).href },
    "with the headers of the program": {
        address: async (t) => {
            const { address, close } = await serve(opened.folder, OF_PROGRAM);
            t.after(close);
            return address;
        },
    },
};

for (const [place, { address, more = {} }] of Object.entries(PLACES)) {
    test(`the page ${place} goes on, whatever a controller does`, async (t) => {
        const elsewhere = await listen(t);
        const { page, context } = await visit(opened.browser, `${await address(t)}#preset=figure-4`);
        t.after(() => context.close());
        const strange = [];
        page.on("dialog", (dialog) => (strange.push(dialog.type()), dialog.dismiss()));
        context.on("page", (other) => strange.push(`opened ${other.url()}`));
        await page.locator("#own summary").click();
        const fill = (source) => page.locator("#own textarea").fill(source);
        await fill(HONEST);
        await after(page, () => page.getByRole("button", { name: "Use it for the first flow" }).click());
        const honest = await numbers(page);
        const reaching = [OTHERS, NETWORK, STORAGE].map((attempts) => [Object.keys(attempts)[0], [tries(elsewhere.address, attempts), /Error: could: \.$/]]);
        for (const [name, [source, said]] of [...reaching, ...Object.entries({ ...ATTACKS, ...more })]) {
            await t.test(name, async () => {
                const theme = await page.locator("#theme").textContent();
                await after(page, () => fill(source));
                assert.match(await problem(page), said);
                await page.locator("#theme").click();
                assert.notEqual(await page.locator("#theme").textContent(), theme, "the page does not answer");
                await after(page, () => fill(HONEST));
                assert.equal(await problem(page), "");
                assert.deepEqual(await numbers(page), honest);
                assert.deepEqual([...strange.splice(0), ...elsewhere.reached.splice(0)], []);
            });
        }
        await page.waitForFunction(() => document.querySelectorAll("iframe").length === 1);
        // One is the page's own.
        for (let times = 0; page.workers().length > 1; times++) {
            assert.ok(times < 100, "a worker goes on after its run");
            await page.waitForTimeout(100);
        }
    });
}

// No controller gets into the frame of its worker. Should one find a way, this is what is there. (Chromium may connect to where a frame is
// to go before it asks whether the frame may go there, which it may not.)
test("the frame of controllers reaches nobody", async (t) => {
    const elsewhere = await listen(t);
    const { page, context } = await visit(opened.browser, opened.address);
    t.after(() => context.close());
    const strange = [];
    page.on("dialog", (dialog) => (strange.push(dialog.type()), dialog.dismiss()));
    context.on("page", (other) => strange.push(`opened ${other.url()}`));
    await page.locator("#own summary").click();
    await page.waitForFunction(() => document.querySelector("iframe") !== null);
    const [, frame] = page.frames();
    await frame.waitForLoadState();
    const could = await frame.evaluate(async (address) => {
        const attempts = {
            page: () => parent.document.title, top: () => top.location.href, navigation: () => (top.location = address), opener: () => opener.location,
            window: () => open(address).location, storage: () => localStorage.x, cookie: () => document.cookie, database: () => indexedDB.open("x"),
            fetch: () => fetch(address), alert: () => confirm("x") || Promise.reject(),
        };
        const done = [];
        for (const [name, attempt] of Object.entries(attempts)) {
            try {
                await attempt();
                done.push(name);
            } catch {}
        }
        const add = (name, properties) => document.documentElement.append(Object.assign(document.createElement(name), properties));
        add("img", { src: address });
        add("script", { src: address });
        add("iframe", { src: address });
        add("object", { data: address });
        add("video", { src: address });
        add("link", { rel: "stylesheet", href: address });
        add("link", { rel: "prefetch", href: address });
        add("link", { rel: "preload", as: "script", href: address });
        add("link", { rel: "modulepreload", href: address });
        add("link", { rel: "icon", href: address });
        add("style", { textContent: `html { background: url(${address}); }` });
        add("form", { action: address, id: "form" });
        document.getElementById("form").submit();
        navigator.sendBeacon(address, "x");
        return done;
    }, elsewhere.address);
    assert.deepEqual(could, []);
    await page.waitForTimeout(500);
    await frame.evaluate((address) => void (location = address), elsewhere.address).catch(() => {});
    await page.waitForTimeout(500);
    assert.deepEqual([...strange, ...elsewhere.asked], []);
});

// Playwright takes a frame that crashes for the page. So the page is asked without it.
test("a sandbox that crashes is replaced", async (t) => {
    const { page, context } = await visit(opened.browser, opened.address);
    t.after(() => context.close());
    const session = await context.newCDPSession(page);
    const ask = async (expression) => (await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value;
    await ask(`import("./engine.js").then(async ({ openEngine }) => {
        const engine = await openEngine();
        const text = (duration) => "name='x'\\nduration='" + duration + "'\\npath={rate='20mbit',rtt='40ms'}\\nflow=[{controller='js:Mine'}]";
        const controllers = { Mine: ${JSON.stringify(HONEST)} };
        window.run = (duration, isOver) => new Promise((resolve) =>
            engine.run(text(duration), { controllers }, { record: (_, done) => isOver(done) && resolve("a record"), error: ({ message }) => resolve(message) }));
        await new Promise((resolve) => (window.began = run("3000s", () => void resolve())));
    })`);
    const frame = await context.newCDPSession(page.frames()[1]);
    frame.send("Page.crash").catch(() => {});
    assert.match(await ask("began"), /did not return within 3 seconds/);
    await ask('new Promise((gone) => setInterval(() => document.querySelector("iframe") ?? gone(), 100))');
    assert.equal(await ask('run("1s", (done) => done)'), "a record");
});
