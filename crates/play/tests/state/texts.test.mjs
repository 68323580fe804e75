// What a stranger's text becomes where it is shown or saved: `node --test crates/play/tests/state/texts.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { csv } from "../../web/downloads.js";
import { described, fileName } from "../../web/state/document.js";
import { visible } from "../../web/visible.js";

test("what is not seen in a text is an escape", () => {
    for (const [text, shown] of [
        ["if (a !== \"user\u202E \u2066// check\u2069 \u2066\") {", "if (a !== \"user\\u{202E} \\u{2066}// check\\u{2069} \\u{2066}\") {"],
        ["const a\u200B = 1;", "const a\\u{200B} = 1;"],
        ["// seen\rhidden()\u2028hidden()", "// seen\\u{D}hidden()\\u{2028}hidden()"],
        ["\u3164\u{E0041}\u{FE0F}\u2800\0", "\\u{3164}\\u{E0041}\\u{FE0F}\\u{2800}\\u{0}"],
    ]) {
        assert.equal(visible(text), shown);
    }
    const plain = "let größe = 'µ → 日本 🙂';\r\n\tnext();\n";
    assert.equal(visible(plain), plain);
});

test("a name of a file is no option of a command", () => {
    assert.equal(fileName('name = "--engine=linux ../x"'), "engine-linux-x");
    assert.equal(fileName('name = "--"'), "scenario");
    assert.equal(fileName('name = "figure-4"'), "figure-4");
});

test("a sheet of paper has the scenario in a line", () => {
    const text = 'name = "x" # mine\n\n[path]\nrate = "20mbit"\nloss = "1%"\nqueue = { kind = "red", min = "50kb" }\n\n[[flow]]\ncontroller = "bbr1"\n';
    assert.equal(described(text), "name x; path: rate 20mbit, loss 1%, queue { kind = red, min = 50kb }; flow: controller bbr1");
    assert.equal(described("[[flow]]\n").length, "flow: ".length);
    assert.ok(described(`name = "${"x".repeat(1e4)}"`).length < 2100);
});

test("no cell of a table is a formula", () => {
    const table = { link: ["=1+1", "@x", "-x", "a,\"b\"", null], at_s: Float64Array.of(-1, 0.5, NaN, 2, 3) };
    assert.equal(csv(table), 'link,at_s\r\n\'=1+1,-1\r\n\'@x,0.5\r\n\'-x,\r\n"a,""b""",2\r\n,3\r\n');
});
