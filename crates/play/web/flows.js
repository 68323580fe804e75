// The flows of a scenario by name and colour: a controller has the colour that it has in reports (Okabe and Ito's and others that
// people with any colour vision can distinguish), and further flows have those that no controller has.

import { named, read } from "./state/document.js";
import { OWN } from "./state/state.js";

export const CONTROLLERS = [
    ["bbr1", "BBRv1"],
    ["bbr3", "BBRv3"],
    ["cubic", "CUBIC"],
    ["reno", "Reno"],
];
export const OWN_CONTROLLER = `js:${OWN}`;

const LIGHT = { bbr1: "#009e73", cubic: "#d55e00", reno: "#0072b2", bbr3: "#9c4fd6", [OWN_CONTROLLER]: "#7a1f3d" };
const DARK = { bbr1: "#2fc79a", cubic: "#f0803c", reno: "#4aa3df", bbr3: "#b06cf0", [OWN_CONTROLLER]: "#f7ef8a" };
const FURTHER_LIGHT = ["#2b2b6b", "#7a1f3d", "#e69f00", "#cc79a7", "#56b4e9", "#787878"];
const FURTHER_DARK = ["#8a6a5c", "#f7ef8a", "#f0b840", "#dc9cc0", "#7cc8f4", "#8c96a0"];

export function title(controller) {
    return CONTROLLERS.find(([name]) => name === controller)?.[1] ?? (controller === OWN_CONTROLLER ? "Your own" : controller);
}

// Every flow: { group, controller, label, colour }, in the order of the record's.
export function flows(text, theme) {
    const groups = named(text, "flow").map((block) => ({
        controller: read(block, "controller") ?? "?",
        count: Math.min(1000, Math.max(1, Number(read(block, "count") ?? 1) || 1)),
    }));
    const each = groups.flatMap(({ controller, count }, group) => Array.from({ length: count }, () => ({ group, controller })));
    return coloured(each, theme);
}

function coloured(each, theme) {
    const [own, further] = theme === "dark" ? [DARK, FURTHER_DARK] : [LIGHT, FURTHER_LIGHT];
    const total = Map.groupBy(each, (flow) => flow.controller);
    const seen = new Map();
    let next = 0;
    return each.map((flow) => {
        const number = (seen.get(flow.controller) ?? 0) + 1;
        seen.set(flow.controller, number);
        const isOnly = total.get(flow.controller).length === 1;
        const colour = number === 1 && own[flow.controller] ? own[flow.controller] : further[next++ % further.length];
        return { ...flow, colour, label: title(flow.controller) + (isOnly ? "" : ` ${number}`) };
    });
}
