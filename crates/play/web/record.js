// A record from the simulator's bytes, whose form src/binary.rs describes.

// Returns { summary, path, payload_share, samples, throughput, queue, transfers }. A table is an object of columns. A column of numbers is a Float64Array with
// NaN for no value, and a column of texts an Array with null. `bytes` is a Uint8Array with a buffer of its own, which the columns share.
export function decode({ buffer }) {
    const length = new DataView(buffer).getUint32(0, true);
    const { summary, path, payload_share, tables } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
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
