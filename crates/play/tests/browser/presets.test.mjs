// Every preset and every step of the tour runs in the page, and the program takes the same text to the same numbers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { presets } from "../../web/presets.js";
import { steps } from "../../web/tour.js";
import { after, download, numbers, text, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const PROGRAM = process.env.FULLPIPE;
// Presets that the program runs as a whole: in a test's build, the others take long.
const COMPARED = ["figure-2", "figure-4", "figure-5", "data-centre"];

test("every preset", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    for (const { name, text: own } of presets.toReversed()) {
        await after(page, () => page.locator("#preset").selectOption(name));
        assert.equal(await page.locator("#problem").isVisible(), false, `${name}: ${await page.locator("#problem").textContent()}`);
        const rows = await numbers(page);
        assert.ok(rows.length > 0 && rows.every((row) => /bit\/s/.test(row[1])), `${name}: ${JSON.stringify(rows)}`);
        assert.equal(await text(page), own);
        assert.deepEqual(heard, [], name);
    }
    await context.close();
});

test("every step of the tour", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    await after(page, () => page.getByRole("button", { name: "Tour" }).click());
    assert.equal(steps.length, 10);
    for (let step = 1; step <= steps.length; step++) {
        const heading = page.locator("#tour h2");
        assert.match(await heading.textContent(), new RegExp(`^${step} of 10: `));
        assert.equal(await text(page), steps[step - 1].text);
        assert.equal(await page.locator("#problem").isVisible(), false);
        if (step < steps.length) {
            await after(page, () => page.getByRole("button", { name: "Next" }).click());
        }
    }
    await page.getByRole("button", { name: "End" }).click();
    assert.equal(await page.locator("#tour").isVisible(), false);
    assert.deepEqual(heard, []);
    await context.close();
});

// A shorter run of the same text is enough for the program to say whether it takes it.
test("the program takes every text", { skip: PROGRAM ? false : "FULLPIPE is not set" }, () => {
    const all = [...presets.map(({ name, text }) => [name, text]), ...steps.map(({ title, text }) => [title, text])];
    for (const [name, own] of all) {
        const short = ["duration=50ms", "warmup=0s", "flow.start=0s", "flow.stagger=0s"].flatMap((it) => ["--set", it]).concat("--json");
        const output = execFileSync(PROGRAM, ["run", "-", ...short], { input: own, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"] });
        assert.ok(JSON.parse(output).flows.length > 0, name);
    }
});

for (const name of COMPARED) {
    test(`the program's numbers of ${name}`, { skip: PROGRAM ? false : "FULLPIPE is not set" }, async () => {
        const { page, context } = await visit(opened.browser, `${opened.address}#preset=${name}`);
        await page.locator("#downloads summary").click();
        const toml = await download(page, "Scenario (TOML)");
        const json = JSON.parse(await download(page, "Summary (JSON)"));
        const natively = JSON.parse(execFileSync(PROGRAM, ["run", "-", "--json"], { input: toml, encoding: "utf8" }));
        // The only field that differs between two runs.
        delete natively.wall_s;
        delete json.wall_s;
        assert.deepEqual(json, natively);
        await context.close();
    });
}
