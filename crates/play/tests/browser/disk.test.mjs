// The page in one file, opened from a disk.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { numbers, visit } from "./page.mjs";
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
