// Advice for the path that is shown: the page does the runs, shows how many are over, and ends them when the setting changes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { after, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

// Few packets are simulated on a slow path.
const SLOW = 'name = "slow"\nduration = "3s"\npath = { rate = "300kbit", rtt = "40ms", buffer = "20p" }\nflow = [{ controller = "bbr1" }]\n';
// The runs take minutes on a slow machine.
const DEADLINE = { timeout: 300_000 };

async function asked(text) {
    const visited = await visit(opened.browser, `${opened.address}#preset=figure-4`);
    const { page } = visited;
    await page.locator("#text summary").click();
    await after(page, () => page.locator("#text textarea").fill(text));
    await page.locator("#advise summary").click();
    await page.getByRole("button", { name: "Advise" }).click();
    return visited;
}

test("the page gives advice", async () => {
    const { page, context, heard } = await asked(SLOW);
    await page.locator("#advise progress").waitFor();
    await page.waitForFunction(() => document.querySelector("#advise progress")?.value > 0, null, DEADLINE);
    assert.match(await page.locator("#advise [role=status] p").first().textContent(), /^24 seeds of this path, 288 runs of 60\.0 s/);
    await page.locator("#advise table").first().waitFor(DEADLINE);
    const names = await page.locator("#advise table").last().locator("tbody th").allTextContents();
    assert.deepEqual(names, ["bbr3", "bbr1", "cubic", "reno"]);
    const goals = await page.locator("#advise table").first().locator("tbody th").allTextContents();
    const goal = page.getByLabel("Goal");
    assert.deepEqual(await goal.locator("option").allTextContents(), goals);
    // The advice for another goal needs no other runs, and the keyboard is enough to have it.
    await goal.focus();
    for (const name of goals) {
        const [headline] = await page.locator("#advise [role=status] p").allTextContents();
        assert.match(headline, new RegExp(`^Choose (bbr3|bbr1|cubic|reno) for ${name}: `));
        assert.equal((await page.locator("#advise code").textContent()).endsWith(` --goal ${name}`), name !== goals[0]);
        await page.keyboard.press("ArrowDown");
    }
    assert.equal(await page.locator("#advise progress").count(), 0);
    assert.equal(await page.getByRole("button", { name: "Stop" }).isVisible(), false);
    assert.deepEqual(heard, []);
    await context.close();
});

test("a change of the setting ends the runs of the advice, and makes room for others", async () => {
    const { page, context, heard } = await asked(SLOW);
    await page.waitForFunction(() => document.querySelector("#advise progress")?.value > 0, null, DEADLINE);
    assert.equal(await after(page, () => page.locator("#text textarea").fill(SLOW.replace("300kbit", "400kbit"))), "true");
    assert.equal(await page.locator("#advise progress").count(), 0);
    assert.equal(await page.getByRole("button", { name: "Advise" }).isEnabled(), true);
    await page.getByRole("button", { name: "Advise" }).click();
    await page.waitForFunction(() => document.querySelector("#advise progress")?.value > 0, null, DEADLINE);
    await page.getByRole("button", { name: "Stop" }).click();
    assert.equal(await page.locator("#advise [role=status]").textContent(), "");
    assert.deepEqual(heard, []);
    await context.close();
});

test("a path that is too much for advice is answered, and a network has no advice", async () => {
    const { page, context, heard } = await asked(SLOW.replace("300kbit", "400gbit").replace("40ms", "1ms").replace("3s", "10ms"));
    await page.locator("#advise .error").waitFor(DEADLINE);
    assert.match(await page.locator("#advise .error").textContent(), /path\.rate: runs of .* give a lower rate/);
    await after(page, () => page.locator("#preset").selectOption("neighbours"));
    assert.equal(await page.getByRole("button", { name: "Advise" }).isVisible(), false);
    assert.deepEqual(heard, []);
    await context.close();
});
