// The colours of the views, those of the reports and the figures: a page and its curves in the light and in the dark. Curves differ
// by more than their colour (LOOKS), and states by more than their ground (states.js), so that any colour vision tells them apart.

const LIGHT = {
    page: "#ffffff", text: "#1b1f24", faint: "#5b6570", line: "#d5dae0", grid: "#e9ecef", panel: "#f6f7f9", accent: "#0072b2",
    impossible: "#dfe3e7",
    flows: ["#009e73", "#d55e00", "#0072b2", "#9c4fd6", "#7a1f3d", "#2b2b6b"],
    states: {
        startup: "rgb(230 159 0 / .28)", slowStart: "rgb(214 205 0 / .34)", drain: "rgb(86 180 233 / .38)",
        probeBw: "rgb(0 158 115 / .08)", avoidance: "rgb(0 114 178 / .07)", probeRtt: "rgb(204 121 167 / .62)",
        recovery: "rgb(120 120 120 / .28)", other: "rgb(120 120 120 / .14)",
    },
};

const DARK = {
    page: "#14171b", text: "#e4e8ec", faint: "#9aa5b1", line: "#39414a", grid: "#262c33", panel: "#1c2026", accent: "#56b4e9",
    impossible: "#2a3038",
    flows: ["#2fc79a", "#f0803c", "#4aa3df", "#b06cf0", "#f7ef8a", "#8a6a5c"],
    states: {
        startup: "rgb(230 159 0 / .30)", slowStart: "rgb(235 225 60 / .26)", drain: "rgb(86 180 233 / .32)",
        probeBw: "rgb(0 158 115 / .16)", avoidance: "rgb(86 140 233 / .14)", probeRtt: "rgb(204 121 167 / .70)",
        recovery: "rgb(170 170 170 / .30)", other: "rgb(170 170 170 / .13)",
    },
};

export const themeOf = (name) => (name === "dark" ? DARK : LIGHT);

export const DASHES = [[], [8, 4], [2, 3]];

// The look of the flow at this place: its own colour, or that of its place. When the colours have all been used, they come again
// with dashes.
export function lookOf(flow, place, theme) {
    const colours = theme.flows;
    return { colour: flow.colour ?? colours[place % colours.length], dash: DASHES[Math.floor(place / colours.length) % DASHES.length] };
}

// As a canvas tells it.
export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
