// The page of `fullpipe play`: scenarios run in the program, with the numbers of the module, and runs end with their page.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { after, numbers, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const PROGRAM = process.env.FULLPIPE;
// A program that says nothing for so long has no page.
const DEADLINE_MS = 60_000;

test("the page of the program has the numbers of the module", { skip: PROGRAM ? false : "FULLPIPE is not set" }, async (t) => {
    const program = spawn(PROGRAM, ["play", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(program, "exit");
    t.after(() => program.kill());
    const early = ended.then(([code]) => assert.fail(`the program ended with ${code} before it told its address`));
    const [address] = await Promise.race([once(createInterface(program.stdout), "line", { signal: AbortSignal.timeout(DEADLINE_MS) }), early]);
    const natively = await visit(opened.browser, `${address}#preset=figure-4`);
    const { page, heard } = natively;
    assert.equal(await page.evaluate(async () => (await (await import("./engine.js")).openEngine()).kind), "native");
    assert.match(await page.locator("footer").textContent(), /by fullpipe on this machine/);
    const served = await visit(opened.browser, `${opened.address}#preset=figure-4`);
    assert.deepEqual(await numbers(page), await numbers(served.page));
    await after(page, () => page.locator("#preset").selectOption("figure-2"));
    assert.equal(await page.locator("#problem").isVisible(), false);
    assert.deepEqual([...heard, ...served.heard], []);
    // A page that leaves in the middle of a run holds nothing up, and one that stays hears that the program has ended.
    const begin = () => page.evaluate(async () => {
        const engine = await (await import("./engine.js")).openEngine();
        const long = "name='x'\nduration='1000s'\npath={rate='100mbit',rtt='40ms'}\nflow=[{controller='bbr1'}]";
        await new Promise((record) => {
            globalThis.told = new Promise((told) => engine.run(long, {}, { record, error: ({ message }) => told(message) }));
        });
    });
    await begin();
    await page.reload();
    await begin();
    const told = page.evaluate(() => globalThis.told);
    program.kill("SIGINT");
    assert.equal(await told, "fullpipe play has ended, or has closed the connection");
    await natively.context.close();
    await served.context.close();
    assert.deepEqual(await ended, [0, null]);
});
