// A record from the simulator's bytes, whose form src/binary.rs describes.

// Returns { summary, path, payload_share, samples, throughput, queue, transfers }. A table is an object of columns. A column of numbers is a Float64Array with
// NaN for no value, and a column of texts an Array with null. `bytes` is a Uint8Array with a buffer of its own, which the columns share.
// Throws an Error if it is none: a controller can forge it.
export function decode({ buffer }) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    check(head);
    const { summary, path, payload_share, tables } = head;
    const cells = Math.ceil((4 + length) / 8) * 8;
    const record = { summary, path, payload_share };
    for (const [name, { rows, columns }] of Object.entries(tables)) {
        record[name] = {};
        for (const [column, { at, texts }] of Object.entries(columns)) {
            record[name][column] = texts
                ? Array.from(new Uint16Array(buffer, cells + at, rows), (index) => (index === 0 ? null : texts[index - 1]))
                : new Float64Array(buffer, cells + at, rows);
        }
    }
    return record;
}

const TABLES = ["queue", "samples", "throughput", "transfers"];
// As those of src/bounds.rs.
const MAX_FLOWS = 1000, MAX_LINKS = 1000, MAX_DURATION_S = 3600;

function check({ summary, path, payload_share, tables }) {
    const isTable = ({ columns }) => Object.values(columns).every(({ texts = [] }) => texts.every((text) => typeof text === "string"));
    const holds = [
        [summary.flows.length <= MAX_FLOWS && summary.flows.every(isFlow), "its flows"],
        [summary.duration_s >= 0 && summary.duration_s <= MAX_DURATION_S, "its duration"],
        [path.links.length <= MAX_LINKS && path.rtprops_ms.length === summary.flows.length && payload_share > 0, "its path"],
        [Object.keys(tables).sort().join() === TABLES.join() && Object.values(tables).every(isTable), "its tables"],
    ];
    const [, wrong] = holds.find(([is]) => !is) ?? [];
    if (wrong) {
        throw new Error(`it lacks ${wrong}`);
    }
}

function isFlow({ id, group, controller }, place) {
    return id === place && Number.isInteger(group) && typeof controller === "string";
}
