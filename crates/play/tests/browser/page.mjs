// A browser with the page open, which notes every message of its console and every request.

import { chromium } from "playwright-core";

export const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";

// Opens a browser. Within a container, root has no sandbox to be had.
export function open() {
    return chromium.launch({ executablePath: EXECUTABLE, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
}

// A page of this size and these preferences at the address. `heard` has what a page must not do: errors, and requests elsewhere.
export async function visit(browser, address, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: "reduce", ...options });
    const page = await context.newPage();
    const heard = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && heard.push(message.text()));
    page.on("pageerror", (error) => heard.push(error.stack));
    const folder = new URL(".", address).href;
    context.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(folder) && !/^(blob|data):/.test(url)) {
            heard.push(`a request to ${url}`);
        }
    });
    await page.goto(address);
    await ran(page);
    return { page, context, heard };
}

// Waits until the shown scenario has run, or was refused: "true" or "failed".
export async function ran(page) {
    await page.waitForFunction(() => !["", "false"].includes(document.getElementById("results").dataset.done ?? ""), null, { timeout: 120_000 });
    return page.evaluate(() => document.getElementById("results").dataset.done);
}

// Does something that changes the state, and waits for the run of it.
export async function after(page, act) {
    await page.evaluate(() => (document.getElementById("results").dataset.done = ""));
    await act();
    return ran(page);
}

// The numbers of the table, by row.
export function numbers(page) {
    return page.locator("#numbers tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
}

// What the text editor has.
export function text(page) {
    return page.locator("#text textarea").inputValue();
}

// The bytes of what a button lets one download.
export async function download(page, button) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()]);
    const parts = [];
    for await (const part of await file.createReadStream()) {
        parts.push(part);
    }
    return Buffer.concat(parts);
}
