// The headers of a server that lets every origin read it; and with them, those of `fullpipe play`.

import { readFileSync } from "node:fs";

const [, POLICY] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(readFileSync(new URL("../../web/index.html", import.meta.url), "utf8"));

export const OPEN = { "access-control-allow-origin": "*" };
export const OF_PROGRAM = {
    ...OPEN,
    "content-security-policy": `${POLICY}; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer", "x-content-type-options": "nosniff", "x-frame-options": "DENY",
};
