// Axes and numbers for people: steps of 1, 2 or 5, and units with prefixes that are powers of 1000.

// The values of an axis from `from` to `to` with at most so many steps.
export function ticks(from, to, most) {
    const least = (to - from) / Math.max(most, 1);
    if (!(least > 0)) {
        return [from];
    }
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * (1 - 1e-9));
    const values = [];
    // The sum is no negative zero.
    for (let count = Math.ceil(from / step - 1e-9) + 0; count * step <= to * (1 + 1e-9); count++) {
        values.push(count * step);
    }
    return values;
}

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

// The scale of values up to this one: what to divide by, and the unit with its prefix.
export function scaleOf(most, unit) {
    if (unit === "ms") {
        return most >= 10_000 ? { by: 1000, unit: "s" } : { by: 1, unit };
    }
    if (unit === "") {
        return { by: 1, unit };
    }
    const [by, prefix] = PREFIXES.find(([by]) => most >= 2 * by) ?? PREFIXES.at(-1);
    return { by, unit: prefix + unit };
}

// A number with at most so many digits, without those that say nothing.
export function number(value, digits = 3) {
    if (value == null || Number.isNaN(value)) {
        return "–";
    }
    if (!Number.isFinite(value)) {
        return "∞";
    }
    const whole = Math.abs(value) >= 10 ** digits;
    return whole ? String(Math.round(value)) : String(Number(value.toPrecision(digits)));
}

// A value with its unit: `19.2 Mbit/s`.
export function measure(value, unit, digits = 3) {
    if (value == null || Number.isNaN(value)) {
        return "–";
    }
    const scale = scaleOf(Math.abs(value), unit);
    return `${number(value / scale.by, digits)} ${scale.unit}`.trim();
}

// A moment of a run.
export const moment = (time_ms, digits = 3) => `${(time_ms / 1000).toFixed(digits)} s`;
