// The page in light, in dark, and on a phone, as pictures in target/play/pictures for people; nothing is wider than the phone, every
// control has a name, and the keyboard reaches what the pointer does.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { visit } from "./page.mjs";
import { opened } from "./setup.mjs";

const PICTURES = fileURLToPath(new URL("../../../../target/play/pictures/", import.meta.url));
const LOOKS = {
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true },
    narrow: { viewport: { width: 320, height: 640 }, hasTouch: true },
    "phone-dark": { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, colorScheme: "dark" },
};

for (const [name, options] of Object.entries(LOOKS)) {
    test(`looks: ${name}`, async () => {
        const { page, context, heard } = await visit(opened.browser, opened.address, options);
        for (const panel of ["text", "own", "race", "advise", "downloads"]) {
            await page.locator(`#${panel} > summary`).click();
        }
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wider, 0, "the page scrolls sideways");
        await page.evaluate(() => scrollTo(0, 0));
        await page.screenshot({ path: `${PICTURES}${name}.png`, fullPage: true });
        assert.deepEqual(heard, []);
        await context.close();
    });
}

test("paper has all pictures, also those that are far from the window", async () => {
    const { page, context } = await visit(opened.browser, opened.address, { viewport: { width: 800, height: 600 } });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    // A change of the page's size is drawn in a later frame.
    await page.waitForTimeout(500);
    const shown = await page.locator("figure.view:not([hidden]) canvas[role=img]").evaluateAll((all) => all.map((canvas) => canvas.getAttribute("aria-label")));
    assert.ok(shown.length >= 8, shown.join("; "));
    assert.deepEqual(shown.filter((label) => !label?.includes(", ")), [], "these are empty");
    assert.match(await page.locator("#sheet").innerText(), /^name three-flows, duration 10s; path: rate 20mbit, rtt 40ms, buffer 2bdp; flow: controller bbr1; /);
    await context.close();
});

test("every control has a name", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    await page.evaluate(() => document.querySelectorAll("details").forEach((it) => (it.open = true)));
    const nameless = await page.locator("button, input, select, textarea, [tabindex='0'], summary, a").evaluateAll((all) => {
        const named = (it) => it.getAttribute("aria-label") || it.textContent.trim() || [...(it.labels ?? [])].some((label) => label.textContent.trim());
        // The text of a choice's options is no name.
        const needsLabel = (it) => ["INPUT", "SELECT", "TEXTAREA"].includes(it.tagName);
        const own = (it) => (needsLabel(it) ? it.getAttribute("aria-label") || [...it.labels].some((label) => label.textContent.trim()) : named(it));
        return all.filter((it) => it.checkVisibility() && !own(it)).map((it) => it.outerHTML.slice(0, 200));
    });
    assert.deepEqual(nameless, []);
    await context.close();
});

test("the keyboard reaches every control, in the order of the page", async () => {
    const { page, context } = await visit(opened.browser, opened.address);
    const reached = new Set();
    for (let presses = 0; presses < 150; presses++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
            const { activeElement: it } = document;
            return it === document.body ? null : it.id || it.getAttribute("aria-label") || it.labels?.[0]?.textContent || it.textContent;
        });
        if (at === null) {
            break;
        }
        reached.add(at);
    }
    for (const name of ["preset", "start-tour", "share", "theme", "Rate", "Loss", "Add a flow", "Scenario as text", "Download"]) {
        assert.ok([...reached].some((it) => it.includes(name)) || reached.has(name), `${name} of ${[...reached].join(", ")}`);
    }
    await context.close();
});

test("the bar of the player hides nothing that has the focus", async () => {
    const { page, context } = await visit(opened.browser, opened.address, { viewport: { width: 1280, height: 900 } });
    const hidden = [];
    for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press("Tab");
        const name = await page.evaluate(() => {
            const it = document.activeElement, bar = document.getElementById("player").getBoundingClientRect();
            const { top, left } = it.getBoundingClientRect();
            const isBehind = !it.closest("#player, #controls") && top >= bar.top && top < bar.bottom && left < bar.right;
            return isBehind ? it.getAttribute("aria-label") || it.textContent : null;
        });
        hidden.push(...(name ? [name] : []));
    }
    assert.deepEqual(hidden, []);
    await context.close();
});

test("the theme is chosen and kept", async () => {
    const { page, context } = await visit(opened.browser, opened.address, { colorScheme: "light" });
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await colour(), "rgb(255, 255, 255)");
    await page.getByRole("button", { name: "Dark colours" }).click();
    assert.equal(await colour(), "rgb(20, 23, 27)");
    await page.reload();
    assert.equal(await colour(), "rgb(20, 23, 27)");
    await context.close();
});
