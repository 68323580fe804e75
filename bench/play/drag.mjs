// How long a picture takes after a drag: 10 s of 20 Mbit/s with three flows, in headless Chromium, while somebody drags the slider of
// the RTprop. A drag is ten values in a row, one for each frame, and a rest. The time of its last value counts: until the numbers and
// pictures of this value are drawn, until the frame with them is done, and until those of the whole run are there. Then 300 values in
// a row without a rest: the time between pictures.
//
// `npm ci --prefix crates/play/tests/browser`, and then `PLAY_PAGE=DIR node bench/play/drag.mjs`, with the folder that crates/play/page
// made. Nothing else should use the machine.

import { open, ran, visit } from "../../crates/play/tests/browser/page.mjs";
import { serve } from "../../crates/play/tests/browser/serve.mjs";

const DRAGS = 60;

const server = await serve(process.env.PLAY_PAGE);
const browser = await open();
const { page } = await visit(browser, server.address);
await ran(page);
const measured = await page.evaluate(async (drags) => {
    const slider = document.querySelector("input[type=range][aria-label=RTprop]");
    const [numbers, results, problem] = ["numbers", "results", "problem"].map((id) => document.getElementById(id));
    const frame = () => new Promise(requestAnimationFrame);
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    let value = 0;
    const slide = () => {
        value = (value + 1) % 100;
        slider.value = Number(slider.max) * (0.4 + value / 500);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const until = (state) =>
        new Promise((resolve, reject) => {
            const observer = new MutationObserver(() => {
                if (results.dataset[state] === "true") {
                    observer.disconnect();
                    resolve(performance.now());
                } else if (results.dataset.done === "failed") {
                    observer.disconnect();
                    reject(new Error(`the run failed: ${problem.textContent}`));
                }
            });
            observer.observe(results, { attributes: true });
        });
    const all = { first: [], painted: [], whole: [], between: [] };
    for (let drag = 0; drag < drags; drag++) {
        for (let step = 0; step < 9; step++) {
            slide();
            await frame();
        }
        const began = performance.now();
        slide();
        const whole = until("done");
        // It fails as the first picture does.
        whole.catch(() => {});
        all.first.push((await until("shown")) - began);
        await wait(0);
        all.painted.push(performance.now() - began);
        all.whole.push((await whole) - began);
        await wait(200);
    }
    let last = performance.now();
    const observer = new MutationObserver(() => {
        const now = performance.now();
        all.between.push(now - last);
        last = now;
    });
    observer.observe(numbers, { childList: true, subtree: true, characterData: true });
    for (let step = 0; step < 300; step++) {
        slide();
        await frame();
    }
    return all;
}, DRAGS);
const names = { first: "first picture", painted: "first picture, with its frame", whole: "whole", between: "between pictures of a drag without a rest" };
for (const [name, times] of Object.entries(measured)) {
    const sorted = times.sort((one, other) => one - other);
    const at = (share) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]);
    console.log(`${names[name]}: median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, worst ${at(1)} ms, of ${sorted.length}`);
}
await browser.close();
server.close();
