// What every file of tests has: the page on a server, and a browser. `PLAY_PAGE` is the folder that crates/play/page has made.

import { after, before } from "node:test";
import { open } from "./page.mjs";
import { serve } from "./serve.mjs";

export const opened = {};

before(async () => {
    opened.folder = process.env.PLAY_PAGE;
    if (!opened.folder) {
        throw new Error("PLAY_PAGE is not set: the folder that crates/play/page has made");
    }
    opened.server = await serve(opened.folder);
    opened.address = opened.server.address;
    opened.browser = await open();
});

after(async () => {
    await opened.browser?.close();
    opened.server?.close();
});
