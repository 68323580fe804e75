// Sliders, fields and choices change single values of the text; errors are at their lines; newer input takes the place of older runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { after, numbers, text, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const visited = (hash = "") => visit(opened.browser, opened.address + hash);

test("a field, a slider and a choice", async () => {
    const { page, context, heard } = await visited();
    const before = await text(page);
    await after(page, async () => {
        await page.getByRole("textbox", { name: "RTprop" }).first().fill("80");
        await page.keyboard.press("Enter");
    });
    assert.equal(await text(page), before.replace('rtt = "40ms"', 'rtt = "80ms"'));
    await after(page, async () => {
        await page.getByRole("slider", { name: "Loss" }).focus();
        await page.keyboard.press("End");
    });
    assert.match(await text(page), /^loss = "50%"$/m);
    await after(page, () => page.keyboard.press("Home"));
    assert.doesNotMatch(await text(page), /loss/);
    await after(page, () => page.getByRole("combobox", { name: "Queue" }).selectOption("threshold"));
    assert.match(await text(page), /^queue = \{ kind = "threshold", at = "65kb" \}$/m);
    await after(page, () => page.getByRole("combobox", { name: "Queue" }).selectOption("codel"));
    await after(page, () => page.getByLabel("Hosts use ECN").selectOption("true"));
    assert.match(await text(page), /\[host\]\necn = true\n/);
    await after(page, () => page.getByRole("slider", { name: "Policer" }).press("End"));
    assert.match(await text(page), /^policer = \{ rate = "1gbit", burst = "200kb" \}$/m);
    assert.deepEqual(heard, []);
    await context.close();
});

test("a number alone has its field's unit, and the simulator's verdict marks a field", async () => {
    const { page, context, heard } = await visited();
    const field = (name) => page.getByRole("textbox", { name, exact: true }).first();
    const typed = (name, value) => after(page, () => field(name).fill(value).then(() => page.keyboard.press("Enter")));
    for (const [name, value, line] of [["Jitter", "5", 'jitter = "5ms"'], ["Loss", ".5", 'loss = ".5%"'], ["Rate", "20 Mbit/s", 'rate = "20 Mbit/s"']]) {
        assert.equal(await typed(name, value), "true", name);
        assert.ok((await text(page)).includes(line), await text(page));
        assert.equal(await field(name).getAttribute("aria-invalid"), "false", name);
    }
    assert.equal(await page.locator("#about").textContent().then((it) => it.startsWith("Changed from “Three controllers")), true);
    for (const [name, wrong, right] of [["Loss", "101%", "1%"], ["Duration", "0s", "2s"]]) {
        assert.equal(await typed(name, wrong), "failed", name);
        assert.equal(await page.locator("#controls [aria-invalid='true']").count(), 1);
        assert.equal(await field(name).getAttribute("aria-invalid"), "true", name);
        assert.equal(await typed(name, right), "true", name);
        assert.equal(await field(name).getAttribute("aria-invalid"), "false", name);
    }
    assert.deepEqual(heard, []);
    await context.close();
});

test("flows come and go", async () => {
    const { page, context, heard } = await visited();
    await after(page, () => page.getByRole("button", { name: "Add a flow" }).click());
    assert.equal((await numbers(page)).length, 4);
    assert.match(await text(page), /controller = "reno"\nstart = "1s"\n$/);
    await after(page, () => page.locator(".flow select").first().selectOption("cubic"));
    assert.deepEqual((await numbers(page)).map(([flow]) => flow), ["CUBIC 1", "BBRv3", "CUBIC 2", "Reno"]);
    await page.locator(".flow summary").first().click();
    await after(page, () => page.getByRole("button", { name: "Remove" }).first().click());
    assert.deepEqual((await numbers(page)).map(([flow]) => flow), ["BBRv3", "CUBIC", "Reno"]);
    assert.deepEqual(heard, []);
    await context.close();
});

test("the focus stays in the settings when flows come and go", async () => {
    const { page, context } = await visited();
    const focused = () => page.evaluate(() => document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent);
    await page.getByRole("button", { name: "Add a flow" }).focus();
    await after(page, () => page.keyboard.press("Enter"));
    assert.equal(await focused(), "Reno");
    await page.locator(".flow summary").first().click();
    await after(page, () => page.getByRole("button", { name: "Remove" }).first().press("Enter"));
    assert.equal(await focused(), "Add a flow");
    await after(page, () => page.getByLabel("Hosts use ECN").selectOption("true"));
    assert.equal((await numbers(page)).length, 3);
    await context.close();
});

test("seeds: what is shown of one of them says so, and the table says from when it counts", async () => {
    const { page, context } = await visited();
    const caption = page.locator("#numbers caption");
    assert.equal(await caption.textContent(), "Seed 1; from 0 s: with the start");
    await after(page, () => page.getByRole("combobox", { name: "Seeds" }).selectOption("3"));
    assert.equal(await caption.textContent(), "Median of 3 seeds, the worst in brackets; from 0 s: with the start");
    assert.equal(await page.locator("#numbers .hint").textContent(), "The pictures are of seed 1.");
    assert.equal(await page.locator("#links .hint").textContent(), "The lines below are of seed 1:");
    await after(page, () => page.getByRole("textbox", { name: "Warmup" }).fill("2s").then(() => page.keyboard.press("Enter")));
    assert.match(await caption.textContent(), /; from 2 s on$/);
    await context.close();
});

test("the rate is drawn, with the pointer and with the keyboard", async () => {
    const { page, context, heard } = await visited();
    await page.locator(".drawing summary").click();
    const { x, y, width, height } = await page.locator(".curve").boundingBox();
    await after(page, async () => {
        await page.mouse.move(x + width * 0.5, y + height * 0.5);
        await page.mouse.down();
        await page.mouse.move(x + width * 0.75, y + height * 0.5, { steps: 3 });
        await page.mouse.up();
    });
    const drawn = await text(page);
    assert.match(drawn, /\[\[path\.change\]\]\nat = "5s"\nrate = "4mbit"\n\n\[\[path\.change\]\]\nat = "7\.75s"\nrate = "20mbit"/);
    await after(page, () => page.getByRole("button", { name: "Constant rate" }).click());
    assert.doesNotMatch(await text(page), /change/);
    await page.locator(".curve").focus();
    await after(page, async () => {
        for (const key of ["ArrowLeft", "ArrowLeft", "ArrowUp"]) {
            await page.keyboard.press(key);
        }
    });
    assert.match(await text(page), /\[\[path\.change\]\]\nat = "\d\.?\d*s"\nrate = "22mbit"/);
    assert.deepEqual(heard, []);
    await context.close();
});

test("an error is at its line, and the last numbers stay", async () => {
    const { page, context, heard } = await visited();
    const before = await numbers(page);
    await page.locator("#text summary").click();
    const area = page.locator("#text textarea");
    const lines = (await area.inputValue()).split("\n");
    const wrong = lines.indexOf('rtt = "40ms"');
    lines[wrong] = 'rtt = "40 furlongs"';
    assert.equal(await after(page, () => area.fill(lines.join("\n"))), "failed");
    assert.match(await page.locator("#problem").textContent(), new RegExp(`^Line ${wrong + 1}: path\\.rtt: `));
    assert.equal(await page.locator("#text .wrong").textContent(), String(wrong + 1));
    assert.equal(await area.getAttribute("aria-invalid"), "true");
    assert.deepEqual(await numbers(page), before);
    lines[wrong] = 'rtt = "30ms"';
    assert.equal(await after(page, () => area.fill(lines.join("\n"))), "true");
    assert.equal(await page.locator("#problem").isVisible(), false);
    assert.equal(await area.getAttribute("aria-invalid"), "false");
    assert.deepEqual(heard, []);
    await context.close();
});

test("a paste that is too long is refused at once", async () => {
    const { page, context, heard } = await visited();
    const before = await text(page);
    await page.locator("#text summary").click();
    const area = page.locator("#text textarea");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    for (const long of ["[[flow]]\n".repeat(1e6), "\n".repeat(5000)]) {
        await page.evaluate((copied) => navigator.clipboard.writeText(copied), long);
        await area.press("Control+V");
        assert.match(await page.locator("#text .error").textContent(), /^the text would have more than 65536 characters or 5000 lines/);
        assert.equal(await text(page), before);
        assert.equal(await page.locator("#text .gutter span").count(), before.split("\n").length);
    }
    assert.equal(await after(page, () => area.fill(before.replace("40ms", "41ms"))), "true");
    assert.equal(await page.locator("#text .error").isVisible(), false);
    assert.deepEqual(heard, []);
    await context.close();
});

test("comments and what no control knows stay", async () => {
    const { page, context } = await visited();
    const own = '# mine\nname = "x" # a name\nduration = "1s"\n[path]\nrate = "5mbit" # slow\nrtt = "20ms"\nreorder = { share = "1%", by = "2ms" }\n\n# one\n[[flow]]\ncontroller = "reno" # old\n';
    await after(page, () => page.locator("#text textarea").evaluate((area, text) => { area.value = text; area.dispatchEvent(new Event("input")); }, own));
    await after(page, () => page.getByRole("textbox", { name: "Rate", exact: true }).fill("6mbit").then(() => page.keyboard.press("Enter")));
    assert.equal(await text(page), own.replace("5mbit", "6mbit"));
    await context.close();
});

// A long run would take many seconds: its numbers never come, since the next input cancels it.
test("newer input cancels", async () => {
    const { page, context, heard } = await visited();
    await page.evaluate(() => (document.getElementById("results").dataset.done = ""));
    await page.getByRole("textbox", { name: "Duration" }).fill("3600s");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(300);
    await after(page, () => page.getByRole("textbox", { name: "Duration" }).fill("2s").then(() => page.keyboard.press("Enter")));
    const short = await numbers(page);
    await page.waitForTimeout(1000);
    assert.deepEqual(await numbers(page), short);
    const other = await visited();
    await after(other.page, () => other.page.getByRole("textbox", { name: "Duration" }).fill("2s").then(() => other.page.keyboard.press("Enter")));
    assert.deepEqual(await numbers(other.page), short);
    assert.deepEqual([...heard, ...other.heard], []);
    await context.close();
    await other.context.close();
});

test("a race has a row for each rival", async () => {
    const { page, context, heard } = await visited();
    await page.locator("#race summary").click();
    await page.getByRole("button", { name: "Race", exact: true }).click();
    await page.waitForFunction(() => [...document.querySelectorAll("#race tbody td")].every((cell) => cell.textContent !== "…"));
    const rows = await page.locator("#race tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(rows.map(([rival]) => rival), ["alone", "BBRv1", "BBRv3", "CUBIC", "Reno", "Prague"]);
    assert.ok(rows.every(([, own]) => /bit\/s/.test(own)));
    assert.deepEqual(heard, []);
    await context.close();
});
