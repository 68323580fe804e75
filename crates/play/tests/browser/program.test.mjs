// The page of `fullpipe play`: scenarios run in the program, with the numbers of the module, and runs end with their page.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { after, numbers, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const PROGRAM = process.env.FULLPIPE;

test("the page of the program has the numbers of the module", { skip: PROGRAM ? false : "FULLPIPE is not set" }, async () => {
    const program = spawn(PROGRAM, ["play", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(program, "exit");
    const [address] = await once(createInterface(program.stdout), "line");
    const natively = await visit(opened.browser, `${address}#preset=figure-4`);
    const { page, heard } = natively;
    assert.equal(await page.evaluate(async () => (await (await import("./engine.js")).openEngine()).kind), "native");
    const served = await visit(opened.browser, `${opened.address}#preset=figure-4`);
    assert.deepEqual(await numbers(page), await numbers(served.page));
    await after(page, () => page.locator("#preset").selectOption("figure-2"));
    assert.equal(await page.locator("#problem").isVisible(), false);
    assert.deepEqual([...heard, ...served.heard], []);
    // A page that leaves in the middle of a run holds nothing up.
    await page.evaluate(async () => {
        const engine = await (await import("./engine.js")).openEngine();
        const long = "name='x'\nduration='1000s'\npath={rate='100mbit',rtt='40ms'}\nflow=[{controller='bbr1'}]";
        await new Promise((record) => engine.run(long, {}, { record, error: record }));
    });
    await natively.context.close();
    await served.context.close();
    program.kill("SIGINT");
    assert.deepEqual(await ended, [0, null]);
});
