// The states of a flow over time.

import { Grounds, stateOf } from "./states.js";
import { LEFT, RIGHT, timeScale } from "./times.js";
import { widthOf, write } from "./view.js";

// A stay that ends less than so many pixels after the one before is not seen.
const LEAST = 0.25;

// Draws them between two heights: as the ground of a picture, or as a ribbon.
export function drawStays(pen, scene, flow, [y, height], width, isRibbon) {
    const { window: { from, to }, theme } = scene;
    const { x } = timeScale(scene.window, width);
    scene.grounds ??= new Grounds(theme);
    let last = -Infinity;
    for (const stay of flow.stays) {
        if (stay.to < from || stay.from > to || x(stay.to) < last + LEAST) {
            continue;
        }
        last = x(stay.to);
        const left = Math.max(x(stay.from), LEFT);
        const right = Math.min(Math.max(x(stay.to), left + 1), width - RIGHT);
        const state = stateOf(stay.name);
        scene.grounds.fill(pen, state, [left, y, right - left, height], isRibbon);
        const size = isRibbon ? Math.min(10, height - 3) : 10;
        if (size < 8) {
            continue;
        }
        const name = state.names.find((name) => widthOf(pen, name, size) + 6 < right - left);
        const middle = (left + right) / 2;
        if (name && isRibbon) {
            const look = { colour: theme.text, size, align: "center", baseline: "middle", halo: theme.page };
            write(pen, name, middle, y + height / 2 + 0.5, look);
        } else if (name) {
            write(pen, name, middle, y + 10, { colour: theme.faint, size, align: "center" });
        }
    }
}
