// The moment that is shown, and what one takes along.

import assert from "node:assert/strict";
import { test } from "node:test";
import { after, download, visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const clock = (page) => page.locator(".clock").textContent().then((text) => parseFloat(text));

test("play, pause, and scrub with the keyboard", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    assert.equal(await clock(page), 9.5);
    const scrubber = page.getByRole("slider", { name: "Time" });
    await scrubber.press("Home");
    assert.equal(await clock(page), 0);
    await page.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction(() => parseFloat(document.querySelector(".clock").textContent) > 0.2);
    await page.getByRole("button", { name: "Pause" }).click();
    const paused = await clock(page);
    await page.waitForTimeout(300);
    assert.equal(await clock(page), paused);
    await scrubber.press("End");
    await scrubber.press("ArrowLeft");
    assert.ok((await clock(page)) < 10 && (await clock(page)) > 9.9);
    assert.match(await scrubber.getAttribute("aria-valuetext"), /^9\.9\d s$/);
    assert.deepEqual(heard, []);
    await context.close();
});

test("a moment stays when the path changes", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const scrubber = page.getByRole("slider", { name: "Time" });
    await scrubber.press("Home");
    for (let presses = 0; presses < 3; presses++) {
        await scrubber.press("PageUp");
    }
    const at = await clock(page);
    assert.ok(at > 0 && at < 10);
    await after(page, () => page.getByRole("slider", { name: "RTprop" }).first().press("ArrowRight"));
    assert.equal(await clock(page), at);
    await context.close();
});

test("the tour plays, unless people want no motion", async () => {
    for (const [reducedMotion, plays] of [["no-preference", true], ["reduce", false]]) {
        const { page, context } = await visit(opened.browser, opened.address, { reducedMotion });
        await after(page, () => page.getByRole("button", { name: "Tour" }).click());
        const isPlaying = await page.getByRole("button", { name: "Pause" }).isVisible();
        assert.equal(isPlaying, plays, reducedMotion);
        await context.close();
    }
});

test("a pointer in a picture moves the time of all", async () => {
    const { page, context, heard } = await visit(opened.browser, opened.address);
    const picture = page.locator(".view .times").first();
    const { x, y, width, height } = await picture.boundingBox();
    await page.mouse.click(x + width / 2, y + height / 2);
    const at = await clock(page);
    assert.ok(at > 3 && at < 7, String(at));
    assert.deepEqual(heard, []);
    await context.close();
});

test("pictures and tables to take along", async () => {
    const { page, context, heard } = await visit(opened.browser, `${opened.address}#preset=figure-4`);
    await page.locator("#downloads summary").click();
    const png = await download(page, "Pictures (PNG)");
    assert.deepEqual([...png.subarray(1, 4)], [..."PNG"].map((letter) => letter.charCodeAt(0)));
    assert.ok(png.length > 20_000, String(png.length));
    for (const [table, columns] of [["samples", /^flow,controller,at_s,rtt_ms,/], ["throughput", /^flow,controller,from_s,/], ["queue", /^hop,link,at_s,/]]) {
        const lines = (await download(page, `${table}.csv`)).toString().trimEnd().split("\r\n");
        assert.match(lines[0], columns);
        assert.ok(lines.length > 1, table);
        const count = lines[0].split(",").length;
        assert.ok(lines.every((line) => line.split(",").length === count), table);
    }
    assert.deepEqual(heard, []);
    await context.close();
});
