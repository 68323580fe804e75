// A link brings back the whole state, and a stranger's link can do no harm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { after, numbers, ran, text, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const link = (state) => `#s=${deflateRawSync(typeof state === "string" ? state : JSON.stringify(state)).toString("base64url")}`;
const SCENARIO = 'name = "x"\nduration = "1s"\n[path]\nrate = "5mbit"\nrtt = "20ms"\n[[flow]]\ncontroller = "reno"\n';

test("the link has the state", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    await after(page, () => page.getByLabel("Rate", { exact: true }).first().fill("7mbit").then(() => page.keyboard.press("Enter")));
    await after(page, () => page.getByLabel("Seeds").selectOption("3"));
    await page.locator("#advise summary").click();
    await page.getByLabel("Goal").selectOption("latency");
    await page.getByRole("button", { name: "Share" }).click();
    const address = await page.getByLabel("Link", { exact: true }).inputValue();
    await page.waitForFunction((hash) => location.hash === hash, new URL(address).hash);
    const other = await visit(opened.browser, address);
    assert.match(await text(other.page), /^rate = "7mbit"$/m);
    assert.equal(await text(other.page), await text(page));
    assert.deepEqual(await numbers(other.page), await numbers(page));
    assert.match((await numbers(page))[0][1], / \(.* Mbit\/s\)$/);
    assert.match(await other.page.locator("#advise code").textContent(), / --goal latency$/);
    await other.page.evaluate(() => (location.hash = "#preset=lte"));
    await other.page.waitForFunction(() => document.querySelector("#advise select").value === "throughput");
    assert.deepEqual([...heard, ...other.heard], []);
    await context.close();
    await other.context.close();
});

test("a link of a changed preset and back", async () => {
    const { page, context } = await visit(opened.browser, `${opened.address}#preset=figure-4`);
    await after(page, () => page.locator("#preset").selectOption("satellite"));
    await page.waitForFunction(() => location.hash === "#preset=satellite");
    await after(page, () => page.evaluate(() => (location.hash = "#preset=lte")));
    assert.match(await text(page), /^name = "lte"$/m);
    await context.close();
});

const BAD = {
    "no state": "#s=AAAA",
    "no base64": "#s=%%%",
    "other JSON": link([1]),
    "a goal that is none": link({ text: SCENARIO, seeds: 1, goal: "fun" }),
    "a goal that is a list": link({ text: SCENARIO, seeds: 1, goal: ["fair"] }),
    "too many seeds": link({ text: SCENARIO, seeds: 100_000 }),
    "no JSON": link("{"),
    "a text that grows": `#s=${deflateRawSync(Buffer.alloc(50_000_000, 32)).toString("base64url")}`,
    "a long text": link({ text: `${SCENARIO}#${"x".repeat(1 << 16)}`, seeds: 1 }),
    "a text of many lines": link({ text: SCENARIO + "[[flow]]\ncount = 1000\n".repeat(20_000), seeds: 1 }),
    "a controller of many lines": link({ text: SCENARIO, seeds: 1, source: "\n".repeat(5000) }),
    "a long link": `#s=${"A".repeat(300_000)}`,
    "an unknown preset": "#preset=constructor",
};

for (const [name, hash] of Object.entries(BAD)) {
    test(`a bad link: ${name}`, async () => {
        const { page, context, heard } = await visit(opened.browser, opened.address);
        const before = await text(page);
        await page.evaluate((it) => (location.hash = it), hash);
        await page.locator("#problem").waitFor({ state: "visible" });
        assert.match(await page.locator("#problem").textContent(), /^the link /);
        assert.equal(await text(page), before);
        assert.deepEqual(heard, []);
        await context.close();
    });
}

test("a bad link at the beginning", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address + BAD["other JSON"]);
    assert.equal(await page.locator("#problem").textContent(), "the link has no scenario: copy the whole of it");
    assert.match(await text(page), /^name = "three-flows"$/m);
    await after(page, () => page.locator("#preset").selectOption("figure-4"));
    assert.equal(await page.locator("#problem").isVisible(), false);
    assert.deepEqual(heard, []);
    await context.close();
});

test("text in a link is text", async () => {
    const hash = link({ text: `${SCENARIO}# <img src=x onerror="document.title='bad'">\n`.replace('"x"', '"<mark>x</mark>"'), seeds: 1 });
    const { page, context, heard } = await visit(opened.browser, opened.address + hash);
    assert.notEqual(await page.title(), "bad");
    assert.equal(await page.locator("main mark, main img").count(), 0);
    assert.deepEqual(heard, []);
    await context.close();
});

test("a controller of a link runs only if the user says so", async () => {
    const source = "export default class { constructor() { throw new Error('it runs'); } on_ack() {} }";
    const hash = link({ text: SCENARIO, seeds: 1, source });
    const context = await opened.browser.newContext();
    const page = await context.newPage();
    await page.goto(opened.address + hash);
    await page.locator("#stranger").waitFor();
    assert.equal(await page.locator("main").isVisible(), false);
    assert.match(await page.locator("#stranger pre").textContent(), /it runs/);
    await after(page, () => page.getByRole("button", { name: "Leave it out" }).click());
    assert.match(await text(page), /reno/);
    assert.equal(await page.locator("#controls option[value='js:Mine']").count(), 0);
    await context.close();
});

test("in a frame, a controller of a link does not run, and nobody is asked", async () => {
    const source = "export default class { constructor() { throw new Error('it runs'); } on_ack() {} }";
    const hash = link({ text: SCENARIO, seeds: 1, source });
    const context = await opened.browser.newContext();
    const page = await context.newPage();
    await page.setContent(`<iframe src="${opened.address}${hash}"></iframe>`);
    const frame = page.frame({ url: opened.address + hash });
    await ran(frame);
    assert.equal(await frame.locator("#stranger button, #stranger pre").count(), 0);
    assert.match(await frame.locator("#stranger").textContent(), /^Another page shows this one, so that no controller of a link runs here: /);
    assert.equal(await frame.locator("#stranger a").getAttribute("href"), opened.address + hash);
    assert.match(await text(frame), /reno/);
    assert.equal(await frame.locator("#controls option[value='js:Mine']").count(), 0);
    await context.close();
});

test("a link that comes while another one's question is open answers that with no", async () => {
    const asking = (mark) => link({ text: SCENARIO.replace('"x"', `"${mark}"`), seeds: 1, source: `// ${mark}\nexport default class { on_ack() { return [1e5, 1e7]; } }` });
    const { page, context, heard } = await visit(opened.browser, opened.address);
    const follow = (hash) => page.evaluate((it) => (location.hash = it), hash);
    await follow(asking("first"));
    await page.locator("#stranger pre").waitFor();
    await after(page, () => follow("#preset=lte"));
    assert.equal(await page.locator("#stranger").isVisible(), false);
    assert.match(await text(page), /^name = "lte"$/m);
    await follow(asking("second"));
    await follow(asking("third"));
    await page.locator("#stranger pre", { hasText: "third" }).waitFor();
    await after(page, () => page.getByRole("button", { name: "Run it" }).click());
    assert.match(await text(page), /^name = "third"$/m);
    assert.match(await page.locator("#own textarea").inputValue(), /^\/\/ third$/m);
    assert.equal(await page.locator("#stranger").isVisible(), false);
    assert.deepEqual(heard, []);
    await context.close();
});

test("a controller of a link can run only after the page was seen for a second", async () => {
    const source = "export default class { on_ack() { return [1e5, 1e7]; } }";
    const context = await opened.browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(() => {
        globalThis.isSeen = false;
        document.hasFocus = () => globalThis.isSeen;
    });
    await page.clock.install();
    await page.goto(opened.address + link({ text: SCENARIO, seeds: 1, source }));
    const run = page.getByRole("button", { name: "Run it" });
    await run.waitFor();
    const change = (isSeen) =>
        page.evaluate((it) => {
            globalThis.isSeen = it;
            window.dispatchEvent(new Event(it ? "focus" : "blur"));
        }, isSeen);
    const passes = (time) => page.clock.runFor(time);
    await passes(5000);
    assert.equal(await run.isEnabled(), false, "nobody has seen it");
    await change(true);
    await passes(900);
    await change(false);
    await passes(5000);
    assert.equal(await run.isEnabled(), false, "a part of a second");
    await change(true);
    await passes(900);
    assert.equal(await run.isEnabled(), false, "a part of a second again");
    await passes(200);
    assert.equal(await run.isEnabled(), true, "a second");
    await change(false);
    assert.equal(await run.isEnabled(), false, "it is not seen any more");
    await context.close();
});

test("a question that is open at first makes way for another link", async () => {
    const source = "export default class { on_ack() { return [1e5, 1e7]; } }";
    const context = await opened.browser.newContext();
    const page = await context.newPage();
    await page.goto(opened.address + link({ text: SCENARIO, seeds: 1, source }));
    await page.locator("#stranger pre").waitFor();
    await page.evaluate(() => (location.hash = "#preset=lte"));
    await ran(page);
    assert.equal(await page.locator("#stranger").isVisible(), false);
    assert.match(await text(page), /^name = "lte"$/m);
    await context.close();
});

test("the source in a question is what runs", async () => {
    const source = "// \u202Eall\u2066 is well\u2028globalThis.hidden = 1;\nexport default class { on_ack() { return [1e5, 1e7]; } }";
    const context = await opened.browser.newContext();
    const page = await context.newPage();
    await page.goto(opened.address + link({ text: SCENARIO, seeds: 1, source }));
    const shown = await page.locator("#stranger pre").textContent();
    assert.match(shown, /^\/\/ \\u\{202E\}all\\u\{2066\} is well\\u\{2028\}globalThis\.hidden = 1;\n/);
    await context.close();
});
