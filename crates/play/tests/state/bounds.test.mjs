// What is bounded when the page reads a text that a stranger has written: `node --test crates/play/tests/state/bounds.test.mjs`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { raced } from "../../web/editor/race.js";
import { flows } from "../../web/flows.js";
import { rowsOf } from "../../web/numbers.js";
import { isReadable, MOST_CHARACTERS, MOST_LINES } from "../../web/state/bounds.js";
import { blocks, named, read, remove } from "../../web/state/document.js";
import { parse } from "../../web/state/quantity.js";

const raw = (text, key) => blocks(text)[0].values.get(key);

// The number of calls of a method while something is done.
function calls(owner, name, act) {
    const own = owner[name];
    let count = 0;
    owner[name] = function (...given) {
        count += 1;
        return own.apply(this, given);
    };
    try {
        act();
    } finally {
        owner[name] = own;
    }
    return count;
}

test("a text is readable up to its bounds", () => {
    assert.equal(isReadable("x".repeat(MOST_CHARACTERS)), true);
    assert.equal(isReadable("x".repeat(MOST_CHARACTERS + 1)), false);
    assert.equal(isReadable("\n".repeat(MOST_LINES - 1)), true);
    assert.equal(isReadable("\n".repeat(MOST_LINES)), false);
    assert.equal(isReadable(`a${"\u0301".repeat(16)}e\u0301`), true);
    assert.equal(isReadable(`a${"\u0301".repeat(17)}`), false, "so many accents on a letter");
});

test("a quantity has at most 64 characters beside the space around it", () => {
    assert.equal(parse("rate", `${" ".repeat(1000)}5 mbit${" ".repeat(1000)}`).number, 5e6);
    assert.equal(parse("rate", `1${" ".repeat(59)}mbit`).number, 1e6);
    assert.equal(parse("rate", `1${" ".repeat(60)}mbit`), null);
    assert.equal(parse("rate", null), null);
});

test("a scenario has at most 1,000 flows in all", () => {
    assert.equal(flows("[[flow]]\ncount = 999\n".repeat(50), "light").length, 1000);
    assert.equal(flows("[[flow]]\ncount = 1e300\n", "light").length, 1000);
    assert.deepEqual(flows("[[flow]]\ncount = 2\n[[flow]]\n", "light").map(({ group }) => group), [0, 0, 1]);
    assert.deepEqual(flows('[[flow]]\ncontroller = "bbr1"\n', "light").map(({ label }) => label), ["BBRv1"]);
});

test("the table looks at each flow once for each seed, however many groups there are", () => {
    let count = 0;
    const flow = (_, id) => ({
        id,
        get group() {
            count += 1;
            return id >> 1;
        },
        controller: "reno",
        goodput_bps: 1e6 + id,
    });
    const summary = () => ({ flows: Array.from({ length: 100 }, flow) });
    const rows = rowsOf([summary(), summary()], flows("[[flow]]\ncontroller = \"reno\"\ncount = 2\n".repeat(50), "light"));
    assert.equal(count, 200);
    assert.equal(rows.length, 50);
    assert.equal(rows[0].label, "Reno × 2, median");
    assert.equal(rows[0].cells[0], "1 Mbit/s (1 Mbit/s)");
});

test("a text is read once, however many ask", () => {
    const text = '[[link]]\nrate = "1mbit"\n'.repeat(100) + "[[flow]]\n".repeat(100);
    const splits = calls(String.prototype, "split", () => {
        for (let place = 0; place < 100; place++) {
            assert.equal(read(named(text, "link")[place], "rate"), "1mbit");
            assert.equal(named(text, "flow").length, 100);
        }
    });
    assert.equal(splits, 1);
    assert.equal(calls(Array.prototype, "filter", () => named(text, "link")), 0);
    assert.deepEqual(named(text, "none"), []);
});

test("a race reads a text as often with many flows as with one", () => {
    const splits = (count) => calls(String.prototype, "split", () => {
        const beside = raced('[[flow]]\ncontroller = "reno"\n'.repeat(count), "bbr1");
        assert.equal(named(beside(null), "flow").length, 1);
        assert.equal(named(beside("cubic"), "flow").length, 2);
    });
    assert.equal(splits(2000), splits(1));
});

test("blocks that are removed take their comments with them", () => {
    const text = "# all\na = 1\n[x]\nb = 1\n\n# of y\n[y]\nc = 1\n# of z\n[z]\n\n[x]\nd = 1\n";
    const named = (...names) => blocks(text).filter(({ name }) => names.includes(name));
    assert.equal(remove(text, named("y")), "# all\na = 1\n[x]\nb = 1\n\n# of z\n[z]\n\n[x]\nd = 1\n");
    assert.equal(remove(text, named("x", "y", "z")), "# all\na = 1\n");
    assert.equal(remove(text, []), text);
});

test("a value that is closed is read to its end", () => {
    const nested = "[".repeat(80) + "\n" + "]".repeat(80);
    assert.equal(raw(`a = ${nested}\nb = 1`, "a").raw, nested);
    assert.equal(raw(`a = ${nested}\nb = 1`, "b").raw, "1");
    assert.equal(raw('a = [ "]", # ]\n"x" ] # y\nb = 1', "a").raw, '[ "]", \n"x" ]');
    assert.equal(raw('a = "open\nb = 1', "b").raw, "1");
    assert.equal(raw('a = """\n[\n"""\nb = 1', "b").raw, "1");
});

test("brackets that are deeper than the simulator takes are not followed", () => {
    const text = `a = ${"[".repeat(100_000)}\nb = 1\n`;
    let pushed;
    pushed = calls(Array.prototype, "push", () => assert.equal(raw(text, "a").last, 0));
    assert.equal(pushed, 81);
    assert.equal(raw(text, "b").raw, "1");
    // A line of brackets after another goes on in the same stack.
    const many = `a = ${"[".repeat(79)}${"\n[]".repeat(1000)}`;
    pushed = calls(Array.prototype, "push", () => assert.equal(raw(many, "a").last, 1000));
    assert.equal(pushed, 1079);
});

test("a line is a value with whatever ends lines elsewhere", () => {
    assert.equal(raw(`a =${" ".repeat(100)}b\u2028`, "a").raw, "b");
    assert.equal(raw('a = "x"\r\nb = 1\r\n', "a").raw, '"x"');
});
