// What the head of a record has: the summary, and what pictures need of the path. A controller can forge that of its own run, so all that
// the page reads of it has the form and the size that it has in runs. Of other parts, there is a bound on their depth alone.

// As those of src/bounds.rs.
export const MAX_FLOWS = 1000;
const MAX_LINKS = 1000;
// No number of a record is larger: whole ones have 64 bits, and the others are derived from such numbers.
export const MOST = 2 ** 64;
// The controllers that runs have are a tenth of these. Each has six classes of transfers.
const MOST_CONTROLLERS = 100, MOST_COMPLETIONS = 6 * MOST_CONTROLLERS;
// More than a scenario of the page can have in its text.
const MOST_CHANGES = 10_000;
// JSON of a record has five levels.
const MOST_DEPTH = 16;

const isNumber = (value) => typeof value === "number" && value >= 0 && value <= MOST;
const isText = (value) => typeof value === "string";
const optional = (is) => (value) => value === null || value === undefined || is(value);
const list = (is, most) => (value) => Array.isArray(value) && value.length <= most && value.every(is);
const object = (parts) => (value) => typeof value === "object" && value !== null && Object.entries(parts).every(([name, is]) => is(value[name]));

// Names of controllers, links and states: letters, digits, and the signs between them.
export const isName = (value) => isText(value) && /^[\w:.-]{1,60}$/.test(value);
export const isCount = (value) => Number.isInteger(value) && value >= 0;

const quantity = optional(isNumber);
const together = { goodput_bps: isNumber, limit_share: quantity };
const hop = object({
    name: optional(isName), utilization: quantity, queue_ms: object({ mean: quantity, p95: quantity }), buffer_bytes: quantity,
    drops: quantity, marks: quantity, random_losses: quantity,
});
const flow = object({
    id: isCount, group: isCount, controller: isName, start_s: isNumber, completed_s: quantity, ...together,
    rtt_ms: object({ p50: quantity, p95: quantity }), sent_bytes: quantity, retransmitted_bytes: quantity,
});
const completions = object({
    controller: isName, over_bytes: quantity, up_to_bytes: quantity, count: isCount, unfinished: isCount, p50_ms: quantity, p95_ms: quantity,
});
const change = object({ at_ms: isNumber, rate_bps: quantity, rtprop_ms: quantity });
const link = object({ rate_bps: quantity, rtprop_ms: isNumber, buffer_bytes: quantity, policer_bps: quantity, changes: list(change, MOST_CHANGES) });

const SUMMARY = {
    scenario: isText, seed: isNumber, duration_s: isNumber, path: hop, next: list(hop, MAX_LINKS), flows: list(flow, MAX_FLOWS),
    together: object(together), controllers: list(object({ controller: isName, ...together }), MOST_CONTROLLERS),
    completions: list(completions, MOST_COMPLETIONS), fairness: object({ jain: quantity }),
};
const PATH = { links: list(link, MAX_LINKS), rtprops_ms: list(isNumber, MAX_FLOWS) };

// Throws an Error of one line if it is no head.
export function checkHead(head) {
    lacks(!object({ summary: object({}), path: object({}) })(head) || !isShallow(head), "a head");
    const { summary, path, payload_share } = head;
    Object.entries(SUMMARY).forEach(([name, is]) => lacks(!is(summary[name]), `summary.${name}`));
    lacks(summary.flows.some(({ id }, place) => id !== place), "the order of its flows");
    Object.entries(PATH).forEach(([name, is]) => lacks(!is(path[name]), `path.${name}`));
    lacks(path.rtprops_ms.length !== summary.flows.length, "an RTprop of each flow");
    lacks(!(payload_share > 0 && payload_share <= 1), "payload_share");
}

export function lacks(is, what) {
    if (is) {
        throw new Error(`it lacks ${what}`);
    }
}

function isShallow(value, depth = 0) {
    return typeof value !== "object" || value === null || (depth < MOST_DEPTH && Object.values(value).every((part) => isShallow(part, depth + 1)));
}
