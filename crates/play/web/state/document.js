// The text of a scenario as blocks of lines. The page has no state of a scenario but its text: a control reads one value of it, and
// replaces only this value, so that comments and everything that no control knows stay as people wrote them.
//
// Tables on one line, such as `path = { rate = "20mbit" }`, are values here and not blocks: they are edited as text.

const HEADER = /^\s*(\[\[?)\s*([\w.-]+)\s*\]/;
const ASSIGNMENT = /^(\s*([\w-]+)\s*=\s*)(.*)$/s;

// The simulator refuses lists and tables that are deeper within each other than this, so the page does not follow them: such a value
// ends with its line.
const DEEPEST = 80;

// A sheet of paper has the first so many characters of a scenario.
const MOST_ON_PAPER = 2000;

// The blocks of the text: { name, list, from, to, values }, with the lines from `from` to before `to`, and for each key
// { line, before, raw, last }: its line, what is there before its value, its value as text, and its last line. Nobody may change them:
// each control reads the same text, so that its blocks are kept.
export function blocks(text) {
    if (kept.text !== text) {
        kept = { text, found: parse(text), names: new Map() };
    }
    return kept.found;
}

let kept = {};

function parse(text) {
    const lines = text.split("\n");
    const found = [{ name: "", list: false, from: 0, to: lines.length, values: new Map() }];
    for (let at = 0; at < lines.length; at++) {
        const header = HEADER.exec(lines[at]);
        if (header) {
            found.at(-1).to = at;
            found.push({ name: header[2], list: header[1] === "[[", from: at, to: lines.length, values: new Map() });
            continue;
        }
        const assignment = ASSIGNMENT.exec(lines[at]);
        if (assignment) {
            const [, before, key, rest] = assignment;
            const [raw, last] = value(lines, at, rest);
            found.at(-1).values.set(key, { line: at, before, raw, last });
            at = last;
        }
    }
    return found;
}

// All blocks with this name, such as the flows. They are kept as well.
export function named(text, name) {
    const found = blocks(text);
    if (!kept.names.has(name)) {
        kept.names.set(name, found.filter((block) => block.name === name));
    }
    return kept.names.get(name);
}

// The value of a key as people read it: a string without its quotes; undefined if there is none, null if it is a table or a list.
export function read(block, key) {
    const raw = block?.values.get(key)?.raw;
    if (raw === undefined) {
        return undefined;
    }
    if (/^[[{]/.test(raw)) {
        return null;
    }
    return raw.replace(/^(["'])(.*)\1$/s, "$2");
}

// The scenario's name as that of a file, without its ending. One that began with a dash would be an option of a command.
export function fileName(text) {
    const name = read(named(text, "")[0], "name") ?? "";
    return name.replace(/[^\w-]+/g, "-").replace(/^-+/, "").slice(0, 40) || "scenario";
}

// The text in a line, for a sheet of paper: its blocks with their values.
export function described(text) {
    const each = blocks(text).map(({ name, values }) => {
        const all = [...values].map(([key, { raw }]) => `${key} ${raw.replace(/["'\s]+/g, (signs) => (/\s/.test(signs) ? " " : ""))}`);
        return (name ? `${name}: ` : "") + all.join(", ");
    });
    const line = each.filter(Boolean).join("; ");
    return line.length > MOST_ON_PAPER ? `${line.slice(0, MOST_ON_PAPER)} …` : line;
}

// The text with this value in place of the key's. A number or a boolean is written as such, { raw } is TOML, and undefined removes the
// key.
export function write(text, block, key, value) {
    const lines = text.split("\n");
    const old = block.values.get(key);
    const raw = value?.raw ?? (typeof value === "string" ? JSON.stringify(value) : String(value));
    if (old && value === undefined) {
        lines.splice(old.line, old.last - old.line + 1);
    } else if (old) {
        const after = old.line === old.last ? lines[old.line].slice(old.before.length + old.raw.length) : "";
        lines.splice(old.line, old.last - old.line + 1, old.before + raw + after);
    } else if (value !== undefined) {
        lines.splice(end(lines, block), 0, `${key} = ${raw}`);
    }
    return lines.join("\n");
}

// The text without these blocks, which are in its order, and without the comments right before each, which are about it.
export function remove(text, blocks) {
    const lines = text.split("\n");
    const parts = blocks.map((block) => [start(lines, block), end(lines, block)]);
    let gone = 0;
    const kept = lines.filter((_, at) => {
        while (gone < parts.length && parts[gone][1] <= at) {
            gone++;
        }
        return gone === parts.length || at < parts[gone][0];
    });
    return tidy(kept);
}

// The text with these lines after a block, or at the end.
export function insert(text, block, added) {
    const lines = text.split("\n");
    const at = block ? end(lines, block) : end(lines, { from: 0, to: lines.length });
    lines.splice(at, 0, "", ...added);
    return tidy(lines);
}

// The lines of the block as text, without the values of these keys.
export function source(text, block, without = []) {
    const lines = text.split("\n");
    const left = without.map((key) => block.values.get(key)).filter((value) => value !== undefined);
    const isOwn = (_, at) => at >= block.from && !left.some(({ line, last }) => line <= at && at <= last);
    return lines.slice(0, end(lines, block)).filter(isOwn).join("\n");
}

function tidy(lines) {
    return `${lines.join("\n").replace(/\n{3,}/g, "\n\n").trim()}\n`;
}

const BESIDES = /^\s*(#.*)?$/;

function start(lines, block) {
    let from = block.from;
    while (from > 1 && /^\s*#/.test(lines[from - 1])) {
        from--;
    }
    return from;
}

// Comments and blank lines at the end of a block belong to the next one.
function end(lines, block) {
    let to = block.to;
    while (to > block.from + 1 && BESIDES.test(lines[to - 1])) {
        to--;
    }
    return to;
}

// The value that begins with `rest` on the line, and its last line: lists and tables go on until they are closed.
function value(lines, line, rest) {
    const open = [];
    let raw = scan(rest, open);
    let last = line;
    while (open.length > 0 && open.length <= DEEPEST && last + 1 < lines.length) {
        last++;
        raw += `\n${scan(lines[last], open)}`;
    }
    return [raw.trimEnd(), last];
}

// Reads a line up to its comment, and returns this text. `open` are the brackets and quotes that are open before it, and then those
// after it; it grows to one more than the deepest.
function scan(line, open) {
    let at = 0;
    while (at < line.length) {
        const quote = open.at(-1);
        const three = line.slice(at, at + 3);
        if (quote && `"'`.includes(quote[0])) {
            if (line[at] === "\\" && quote[0] === '"') {
                at++;
            } else if (line.startsWith(quote, at)) {
                open.pop();
                at += quote.length - 1;
            }
        } else if (open.length > DEEPEST) {
            return line;
        } else if (three === '"""' || three === "'''") {
            open.push(three);
            at += 2;
        } else if (`"'[{`.includes(line[at])) {
            open.push(line[at]);
        } else if ("]}".includes(line[at])) {
            open.pop();
        } else if (line[at] === "#") {
            break;
        }
        at++;
    }
    // A string on one line ends with it, closed or not.
    if (['"', "'"].includes(open.at(-1))) {
        open.pop();
    }
    return line.slice(0, at);
}
