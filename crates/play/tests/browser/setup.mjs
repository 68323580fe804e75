// What every file of tests has: the page on a server, and a browser. `PLAY_MODULE` is the file of the compiled module.

import { after, before } from "node:test";
import { open } from "./page.mjs";
import { serve } from "./serve.mjs";

export const opened = {};

before(async () => {
    const module = process.env.PLAY_MODULE;
    if (!module) {
        throw new Error("PLAY_MODULE is not set: the file of the compiled module, such as target/play/wasm32-unknown-unknown/release/play.wasm");
    }
    opened.server = await serve(module);
    opened.address = opened.server.address;
    opened.browser = await open();
});

after(async () => {
    await opened.browser?.close();
    opened.server?.close();
});
