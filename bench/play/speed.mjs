// How many packets a second the simulator passes in the page's worker, in headless Chromium, and natively: the same scenario with its
// whole record, in turn, so that both have the same machine.
//
// `npm ci --prefix crates/play/tests/browser`, and then `PLAY_PAGE=DIR FULLPIPE=target/release/fullpipe node bench/play/speed.mjs`, with
// the folder that crates/play/page made. Nothing else should use the machine.

import { execFileSync } from "node:child_process";

import { open, visit } from "../../crates/play/tests/browser/page.mjs";
import { serve } from "../../crates/play/tests/browser/serve.mjs";

const TURNS = 9;
// The records of links with names count packets.
const TEXT = `
name = "speed"
duration = "60s"
[[link]]
name = "line"
from = "server"
to = "client"
rate = "100mbit"
rtt = "100ms"
buffer = "1bdp"
[[flow]]
controller = "bbr3"
from = "server"
to = "client"
`;

const server = await serve(process.env.PLAY_PAGE);
const browser = await open();
const { page } = await visit(browser, server.address);
const inPage = () =>
    page.evaluate(async (text) => {
        const { openEngine } = await import("./engine.js");
        const engine = (globalThis.engine ??= await openEngine());
        const began = performance.now();
        const summary = await new Promise((resolve, reject) => {
            const record = (record, done) => done && resolve(record.summary);
            engine.run(text, {}, { record, error: ({ message }) => reject(new Error(message)) });
        });
        return { packets: summary.path.packets, s: (performance.now() - began) / 1000 };
    }, TEXT);
const natively = () => {
    const summary = JSON.parse(execFileSync(process.env.FULLPIPE, ["run", "-", "--json"], { input: TEXT, stdio: ["pipe", "pipe", "ignore"] }));
    return { packets: summary.path.packets, s: summary.wall_s };
};
const rates = { page: [], native: [] };
for (let turn = 0; turn < TURNS; turn++) {
    const [there, here] = [await inPage(), natively()];
    if (there.packets !== here.packets) {
        throw new Error(`the page passed ${there.packets} packets, and the program ${here.packets}`);
    }
    rates.page.push(there.packets / there.s);
    rates.native.push(here.packets / here.s);
}
for (const [where, all] of Object.entries(rates)) {
    const million = (rate) => `${(rate / 1e6).toFixed(2)} M/s`;
    all.sort((a, b) => a - b);
    console.log(`${where}: median ${million(all[TURNS >> 1])}, ${million(all[0])} to ${million(all.at(-1))}, of ${TURNS} runs`);
}
await browser.close();
server.close();
