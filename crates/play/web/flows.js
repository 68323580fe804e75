// The flows of a scenario by name and colour: a controller has the colour that it has in reports (Okabe and Ito's and others that
// people with any colour vision can distinguish), and its further flows have shades of it, which differ by their lightness.

import { named, read } from "./state/document.js";
import { OWN } from "./state/state.js";

export const CONTROLLERS = [
    ["bbr1", "BBRv1"],
    ["bbr3", "BBRv3"],
    ["cubic", "CUBIC"],
    ["reno", "Reno"],
    ["prague", "Prague"],
];
export const OWN_CONTROLLER = `js:${OWN}`;

const LIGHT = { bbr1: "#009e73", cubic: "#d55e00", reno: "#0072b2", bbr3: "#9c4fd6", prague: "#7a1f3d", [OWN_CONTROLLER]: "#2b2b6b" };
const DARK = { bbr1: "#2fc79a", cubic: "#f0803c", reno: "#4aa3df", bbr3: "#b06cf0", prague: "#f7ef8a", [OWN_CONTROLLER]: "#8a6a5c" };
// A controller that is none of these has no run.
const UNKNOWN = "#787878";
// The shades as parts of white (1) or black (0) in a colour: each can be seen on its page, and neighbours are far from each other.
const SHADES_LIGHT = [[0, 0.55], [1, 0.28], [0, 0.3], [0, 0.8]];
const SHADES_DARK = [[0, 0.34], [1, 0.7], [0, 0.17], [1, 0.4]];

export function title(controller) {
    return CONTROLLERS.find(([name]) => name === controller)?.[1] ?? (controller === OWN_CONTROLLER ? "Your own" : controller);
}

// The simulator refuses more flows than these, so the page makes no more.
const MOST_FLOWS = 1000;

// Every flow: { group, controller, label, colour }, in the order of the record's.
export function flows(text, theme) {
    let left = MOST_FLOWS;
    const each = named(text, "flow").flatMap((block, group) => {
        const controller = read(block, "controller") ?? "?";
        const count = Math.min(left, Math.max(1, Math.trunc(Number(read(block, "count") ?? 1)) || 1));
        left -= count;
        return Array.from({ length: count }, () => ({ group, controller }));
    });
    return coloured(each, theme);
}

function coloured(each, theme) {
    const [own, shades] = theme === "dark" ? [DARK, SHADES_DARK] : [LIGHT, SHADES_LIGHT];
    const total = new Map();
    each.forEach(({ controller }) => total.set(controller, (total.get(controller) ?? 0) + 1));
    const seen = new Map();
    return each.map((flow) => {
        const number = (seen.get(flow.controller) ?? 0) + 1;
        seen.set(flow.controller, number);
        const isOnly = total.get(flow.controller) === 1;
        const place = (number - 1) % (shades.length + 1);
        const first = own[flow.controller] ?? UNKNOWN;
        const colour = place === 0 ? first : shade(first, ...shades[place - 1]);
        return { ...flow, colour, label: title(flow.controller) + (isOnly ? "" : ` ${number}`) };
    });
}

// A colour with this part of white or black in it.
function shade(colour, white, part) {
    const mixed = [1, 3, 5].map((at) => Math.round(parseInt(colour.slice(at, at + 2), 16) * (1 - part) + 255 * white * part));
    return `#${mixed.map((level) => level.toString(16).padStart(2, "0")).join("")}`;
}
