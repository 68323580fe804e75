// The scenarios of a race: `node --test crates/play/tests/state/race.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { raced } from "../../web/editor/race.js";

const PATH = '[path]\nrate = "9mbit"\nrtt = "40ms"\n';
const HOST = '[flow.host]\nmss = "1kb"\n';

test("a race has the path, and the first flow with as much to send as it can", () => {
    const first = '# a group\n[[flow]]\ncontroller = "reno"\ncount = 9\nrtt = "50ms"\napp = {\n  kind = "video",\n}\n';
    const text = `${PATH}\n${first}${HOST}[flow.app]\nkind = "video"\n\n[[flow]]\nbytes = "9kb"\n[flow.app]\nkind = "bulk"\n\n[host]\necn = true\n`;
    const one = (name) => `[[flow]]\ncontroller = "${name}"\nrtt = "50ms"\n${HOST}`;
    const beside = raced(text, "bbr1");
    assert.equal(beside(null), `${PATH}\n[host]\necn = true\n\n${one("bbr1")}`);
    assert.equal(beside("cubic"), `${PATH}\n[host]\necn = true\n\n${one("bbr1")}${one("cubic")}`);
});

test("a scenario without a table for a flow gets one", () => {
    assert.equal(raced(PATH, "bbr1")(null), `${PATH}\n[[flow]]\ncontroller = "bbr1"\n`);
});
