// One's own controller: it runs, its errors have their lines, one that does not come back is ended, and it races against each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { after, numbers, ran, text, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

async function edited(source) {
    const visited = await visit(opened.browser, `${opened.address}#preset=figure-4`);
    const { page } = visited;
    await page.locator("#own summary").click();
    const area = page.locator("#own textarea");
    if (source) {
        await area.fill(source);
    }
    const outcome = await after(page, () => page.getByRole("button", { name: "Use it for the first flow" }).click());
    return { ...visited, area, outcome };
}

test("the controller to begin with runs, and is in the link", async () => {
    const { page, context, heard, outcome } = await edited();
    assert.equal(outcome, "true", await page.locator("#problem").textContent());
    assert.match(await text(page), /controller = "js:Mine"/);
    const [row] = await numbers(page);
    assert.match(row.join(" "), /^Your own [5-9].* Mbit\/s/);
    await page.waitForFunction(() => location.hash.startsWith("#s="));
    const other = await visit(opened.browser, opened.address);
    await other.page.evaluate((hash) => (location.hash = hash), new URL(page.url()).hash);
    await after(other.page, () => other.page.getByRole("button", { name: "Run it" }).click());
    assert.deepEqual(await numbers(other.page), await numbers(page));
    assert.deepEqual([...heard, ...other.heard], []);
    await context.close();
    await other.context.close();
});

const class_ = (body) => `export default class Mine {\n    constructor() {}\n${body}\n}\n`;
const BROKEN = {
    "an exception": [class_("    on_ack(ack) {\n        return ack.nothing.there;\n    }"), 4, /TypeError/],
    "no syntax": [class_("    on_ack(ack) {\n        return [1, ;\n    }"), 4, /SyntaxError/],
    "a wrong answer": [class_("    on_ack() { return 7; }"), null, /return \[cwnd in bytes, pacing rate in bit\/s\]/],
    "no class": ["const x = 1;\n", null, /export default class/],
};

for (const [name, [source, line, message]] of Object.entries(BROKEN)) {
    test(`an error of a controller: ${name}`, async () => {
        const { page, context, heard, outcome } = await edited(source);
        assert.equal(outcome, "failed");
        assert.match(await page.locator("#own .error").textContent(), message);
        if (line !== null) {
            assert.equal(await page.locator("#own .wrong").textContent(), String(line));
        }
        const mended = await after(page, () => page.locator("#own textarea").fill(class_("    on_ack() { return [60_000, 9e6]; }")));
        assert.equal(mended, "true");
        assert.equal(await page.locator("#problem").isVisible(), false);
        assert.deepEqual(heard, []);
        await context.close();
    });
}

// It takes its time after 300 ms, so that there is a record of a part before it fails.
test("a run that broke off says when", async () => {
    const late = `    on_ack({ now_ns }) {
        for (const until = performance.now() + (now_ns > 3e8 ? 20 : 0); performance.now() < until; );
        if (now_ns > 5e8) {
            throw new Error("late");
        }
        return [60_000, 9e6];
    }`;
    const { page, context, outcome } = await edited(class_(late));
    assert.equal(outcome, "failed");
    assert.match(await page.locator("#status").textContent(), /^Broke off at [345]\d\d ms: /);
    await context.close();
});

test("a controller that does not come back is ended", async () => {
    const { page, context, outcome } = await edited(class_("    on_ack() { for (;;); }"));
    assert.equal(outcome, "failed");
    assert.match(await page.locator("#problem").textContent(), /ended/);
    await after(page, () => page.locator(".flow select").first().selectOption("bbr1"));
    assert.equal((await numbers(page))[0][0], "BBRv1");
    await context.close();
});

// It fills the memory of its run, as a run that takes too much does.
const FULL = `let memory;
const Instance = WebAssembly.Instance;
WebAssembly.Instance = function (...given) {
    const instance = new Instance(...given);
    ({ memory } = instance.exports);
    return instance;
};
export default class Mine {
    on_ack() {
        for (let pages = 16_384; pages > 0; pages >>= 1) {
            try {
                for (;;) {
                    memory.grow(pages);
                }
            } catch {}
        }
        return [1e8, 2e9];
    }
}
`;

test("a run whose memory is used up says so, and the next one runs", async () => {
    const { page, context, heard, outcome } = await edited(FULL);
    assert.equal(outcome, "failed");
    const told = /^the run takes more memory than it may have here: give lower rates, shorter delays or smaller buffers/;
    assert.match(await page.locator("#problem").textContent(), told);
    assert.equal(await after(page, () => page.locator(".flow select").first().selectOption("bbr1")), "true");
    assert.equal(await page.locator("#problem").isVisible(), false);
    assert.equal((await numbers(page))[0][0], "BBRv1");
    assert.deepEqual(heard, []);
    await context.close();
});

// It says that each run has as much memory as there is.
const LARGE = `Object.defineProperty(ArrayBuffer.prototype, "byteLength", { get: () => 1.5e9 });
export default class Mine {
    on_ack() {
        return [60_000, 9e6];
    }
}
`;

test("runs that take too much memory together run one after the other", async () => {
    const { page, context, heard, outcome } = await edited(LARGE);
    assert.equal(outcome, "true");
    // So long that runs meet.
    assert.equal(await after(page, () => page.getByLabel("Duration", { exact: true }).first().fill("60s").then(() => page.keyboard.press("Enter"))), "true");
    await page.evaluate(() => {
        const { postMessage } = MessagePort.prototype;
        globalThis.begun = [];
        MessagePort.prototype.postMessage = function (message, ...rest) {
            if (typeof message?.text === "string") {
                globalThis.begun.push(message.id);
            }
            return postMessage.call(this, message, ...rest);
        };
    });
    assert.equal(await after(page, () => page.getByLabel("Seeds").selectOption("5")), "true");
    assert.equal(await page.locator("#numbers caption").textContent(), "Median of 5 seeds, the worst in brackets; from 0 s: with the start");
    const begun = await page.evaluate(() => globalThis.begun);
    assert.equal(new Set(begun).size, 5);
    assert.ok(begun.length > 5, `no run began anew: ${begun}`);
    assert.deepEqual(heard, []);
    await context.close();
});

test("a controller can reach nobody", async () => {
    const reach = `    on_ack() {
        try {
            fetch("https://example.org/").catch(() => {});
        } catch {}
        return [60_000, 9e6];
    }`;
    const { page, context, heard, outcome } = await edited(class_(reach));
    assert.equal(outcome, "true");
    assert.deepEqual(heard.filter((it) => it.startsWith("a request")), []);
    assert.equal(await ran(page), "true");
    await context.close();
});

test("it races against each of the list", async () => {
    const { page, context, heard } = await edited();
    await page.getByRole("button", { name: "Race it against each" }).click();
    await page.waitForFunction(() => {
        const cells = [...document.querySelectorAll("#race tbody td")];
        return cells.length > 0 && cells.every((cell) => cell.textContent !== "…");
    });
    const rows = await page.locator("#race tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(rows.map(([rival]) => rival), ["alone", "BBRv1", "BBRv3", "CUBIC", "Reno", "Prague"]);
    assert.ok(rows.every(([, own]) => /bit\/s/.test(own)), JSON.stringify(rows));
    assert.equal(await page.getByLabel("Controller in the race").inputValue(), "js:Mine");
    assert.deepEqual(heard, []);
    await context.close();
});
