// Values with units, as scenarios have them (docs/scenario.md), to numbers of the base unit and back.

const PREFIX = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const BINARY = { ki: 2 ** 10, mi: 2 ** 20, gi: 2 ** 30, ti: 2 ** 40 };

const units = (prefixes, unit) => Object.entries(prefixes).map(([prefix, factor]) => [prefix + unit, factor]);

// Each kind: its units with their factors, those that the page writes, and the base unit for people.
const KINDS = {
    rate: { units: [...units(PREFIX, "bit"), ...units(PREFIX, "bit/s")], written: ["bit", "kbit", "mbit", "gbit"] },
    time: {
        units: [["ns", 1e-9], ["us", 1e-6], ["ms", 1e-3], ["s", 1], ["min", 60], ["h", 3600], ["d", 86400]],
        written: ["us", "ms", "s"],
    },
    size: { units: [...units(PREFIX, "b"), ...units(BINARY, "b")], written: ["b", "kb", "mb", "gb"] },
    share: { units: [["%", 0.01], ["", 1]], written: ["%"] },
    buffer: {
        units: [["bdp", 1], ["p", 1], ...units(PREFIX, "b"), ...units(BINARY, "b"), ["ms", 1e-3], ["s", 1]],
        written: ["bdp"],
    },
    number: { units: [["", 1]], written: [""] },
};

// The longest text that can be a value: whoever wrote it, a match of it takes few steps.
const LONGEST = 64;

// The number of the text in the kind's base unit (bits per second, seconds, bytes, a share), and the text's own unit; null if it
// is none. A buffer is a number of its own unit.
export function parse(kind, text) {
    const value = (text ?? "").trim();
    const match = value.length <= LONGEST && /^([0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zµ%/]*)$/i.exec(value);
    const unit = match && KINDS[kind].units.find(([name]) => name === match[2].toLowerCase().replace("µ", "u"));
    return unit ? { number: Number(match[1].replaceAll("_", "")) * unit[1], unit: unit[0] } : null;
}

// The number as text with the unit in which it is shortest, three significant digits or whole.
export function format(kind, number, unit) {
    const { units: all, written } = KINDS[kind];
    const names = unit === undefined ? written : [unit];
    const own = all.filter(([name]) => names.includes(name));
    const fits = own.filter(([, factor]) => number >= factor);
    const [name, factor] = fits.at(-1) ?? own[0];
    return `${digits(number / factor)}${name}`;
}

export function digits(number) {
    return number >= 1000 ? String(Math.round(number)) : String(Number(number.toPrecision(3)));
}

// The same for people: 20 Mbit/s, 40 ms.
export function shown(kind, number) {
    if (number === null || number === undefined || !Number.isFinite(number)) {
        return "–";
    }
    if (kind === "share") {
        return `${digits(number * 100)} %`;
    }
    const text = number === 0 ? `0${kind === "rate" ? "bit" : "ms"}` : format(kind, number);
    const [, value, unit] = /^([\d.]+)(.*)$/.exec(text);
    const names = { bit: "bit/s", kbit: "kbit/s", mbit: "Mbit/s", gbit: "Gbit/s", b: "B", kb: "kB", mb: "MB", gb: "GB", us: "µs" };
    return `${value} ${names[unit] ?? unit}`;
}
