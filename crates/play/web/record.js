// A record from the simulator's bytes, whose form src/binary.rs describes. A controller can forge that of its own run, so all is bounded
// here and in head.js that pictures and tables rely on.

import { MAX_FLOWS, MOST, checkHead, isCount, isName, lacks } from "./head.js";

// In bytes: more than the summary of a thousand flows, and of a thousand links with all changes that a text can have.
const MOST_HEAD = 1 << 23;
const MOST_COLUMNS = 40;

// The most rows that the simulator keeps (`Series`, `Throughput`, `Transfers` of the crate record), in all and with one key. The rows
// with a key are together, keys and times ascend, and so does a key from zero.
const TABLES = {
    samples: { key: "flow", time: "at_s", most: 1_010_000, mostOfKey: 20_010 },
    throughput: { key: "flow", time: "from_s", most: 4096 * MAX_FLOWS, mostOfKey: 4096 },
    queue: { key: "hop", time: "at_s", most: 1_300_000, mostOfKey: 20_010 },
    transfers: { most: 500_000 },
};
const TEXTS = ["controller", "link", "state"];

// Returns { summary, path, payload_share, samples, throughput, queue, transfers }. A table is an object of columns. A column of numbers is
// a Float64Array with NaN for no value, and a column of texts an Array with null. `bytes` is a Uint8Array with a buffer of its own, which
// the columns share. Throws an Error of one line if it is no record.
export function decode(bytes) {
    const buffer = bytes?.buffer;
    lacks(!(buffer instanceof ArrayBuffer && buffer.byteLength >= 8), "bytes");
    const length = new DataView(buffer).getUint32(0, true);
    const begin = aligned(4 + length);
    lacks(length > MOST_HEAD || begin > buffer.byteLength, "a head");
    const head = parsed(new Uint8Array(buffer, 4, length));
    checkHead(head);
    const { summary, path, payload_share, tables } = head;
    lacks(Object.keys(tables ?? {}).join() !== Object.keys(TABLES).join(), "its tables");
    const record = { summary, path, payload_share };
    const mostKeys = { flow: summary.flows.length, hop: 1 + summary.next.length };
    const cells = { buffer, begin, at: begin };
    for (const [name, rules] of Object.entries(TABLES)) {
        record[name] = table(tables[name] ?? {}, cells, name, rules.most);
        lacks(rules.key && !isOrdered(record[name], rules, mostKeys[rules.key]), `the order of ${name}`);
    }
    lacks(cells.at !== buffer.byteLength, "an end");
    return record;
}

const aligned = (at) => Math.ceil(at / 8) * 8;

function parsed(bytes) {
    try {
        return JSON.parse(new TextDecoder().decode(bytes));
    } catch {
        return null;
    }
}

// A table from the cells, which follow each other in the order of the columns.
function table({ rows, columns }, cells, name, most) {
    const places = Object.entries(columns ?? {});
    lacks(!isCount(rows) || rows > most || places.length > MOST_COLUMNS, `the rows of ${name}`);
    return Object.fromEntries(places.map(([column, place]) => {
        const { at, texts } = place ?? {};
        const isOfTexts = TEXTS.includes(column);
        const end = cells.at + rows * (isOfTexts ? 2 : 8);
        const isThere = /^[a-z]\w*$/.test(column) && cells.begin + at === cells.at && end <= cells.buffer.byteLength && isOfTexts === Array.isArray(texts);
        lacks(!isThere, `a column of ${name}`);
        const own = isOfTexts ? named(new Uint16Array(cells.buffer, cells.at, rows), texts) : new Float64Array(cells.buffer, cells.at, rows);
        lacks(isOfTexts ? own === null : !areNumbers(own), `the cells of ${name}.${column}`);
        cells.at = aligned(end);
        return [column, own];
    }));
}

function areNumbers(cells) {
    for (let row = 0; row < cells.length; row++) {
        const cell = cells[row];
        // NaN is no value.
        if (!(cell >= 0 && cell <= MOST) && cell === cell) {
            return false;
        }
    }
    return true;
}

// The names of cells; null if one has none.
function named(cells, texts) {
    if (!texts.every(isName)) {
        return null;
    }
    const names = [null, ...texts];
    const own = new Array(cells.length);
    for (let row = 0; row < cells.length; row++) {
        const index = cells[row];
        if (index >= names.length) {
            return null;
        }
        own[row] = names[index];
    }
    return own;
}

// Whether the rows of each key are together, no more than there may be, and with the keys and the times ascending.
function isOrdered(table, { key, time, mostOfKey }, mostKeys) {
    const keys = table[key], times = table[time];
    let first = 0;
    for (let row = 0; row < (keys?.length ?? 0); row++) {
        if (row === 0 || keys[row] > keys[row - 1]) {
            first = row;
        } else if (!(keys[row] === keys[row - 1] && times[row] >= times[row - 1])) {
            return false;
        }
        if (!(isCount(keys[row]) && keys[row] < mostKeys && times[row] >= 0 && row - first < mostOfKey)) {
            return false;
        }
    }
    return keys !== undefined && times !== undefined;
}
