// The page in one file, opened from a disk.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { after, numbers, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

test("the page in one file gives the numbers of the page on a server", async () => {
    const address = pathToFileURL(`${opened.folder}/fullpipe.html`).href;
    const onDisk = await visit(opened.browser, `${address}#preset=figure-4`);
    const served = await visit(opened.browser, `${opened.address}#preset=figure-4`);
    assert.deepEqual(await numbers(onDisk.page), await numbers(served.page));
    assert.deepEqual([...onDisk.heard, ...served.heard], []);
    await onDisk.context.close();
    await served.context.close();
});

test("a controller runs in the page on a disk, with its numbers on a server", async () => {
    const rows = [];
    for (const address of [pathToFileURL(`${opened.folder}/fullpipe.html`).href, opened.address]) {
        const { page, context, heard } = await visit(opened.browser, `${address}#preset=figure-4`);
        await page.locator("#own summary").click();
        assert.equal(await after(page, () => page.getByRole("button", { name: "Use it for the first flow" }).click()), "true");
        rows.push(await numbers(page));
        assert.deepEqual(heard, []);
        await context.close();
    }
    assert.match(rows[0][0].join(" "), /^Your own [5-9].* Mbit\/s/);
    assert.deepEqual(rows[0], rows[1]);
});
