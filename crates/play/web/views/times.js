// What all pictures over time have in common: the axis, the moment shown, and the pointer that chooses it.

import { moment, number, ticks } from "./axis.js";
import { line, write } from "./view.js";

export const LEFT = 50, RIGHT = 12;
export const TOP = 8, BOTTOM = 20;

// More curves than this are a crowd: thin, and without values of their own beside the title.
export const CROWD = 6;

// Where times are in a drawing of this width.
export function timeScale({ from, to }, width) {
    const perTime = (width - LEFT - RIGHT) / (to - from);
    return { x: (time) => LEFT + (time - from) * perTime, time: (x) => from + (x - LEFT) / perTime };
}

// The axis of time below a drawing.
export function drawTimes(pen, scene, { width, height }) {
    const { theme, window: { from, to } } = scene;
    const { x } = timeScale(scene.window, width);
    const values = ticks(from, to, (width - LEFT - RIGHT) / 70);
    const digits = values.length > 1 && values[1] - values[0] < 10 ? 6 : 3;
    for (const time of values) {
        line(pen, [[x(time), TOP], [x(time), height - BOTTOM]], { colour: theme.grid });
        const at = Math.min(Math.max(x(time), LEFT), width - 14);
        write(pen, `${number(time / 1000, digits)} s`, at, height - BOTTOM + 14, { colour: theme.faint, align: "center" });
    }
}

// A line at the moment shown.
export function drawMoment(pen, scene, { width, height }) {
    const { x } = timeScale(scene.window, width);
    const at = x(scene.time_ms);
    if (at >= LEFT - 1 && at <= width - RIGHT + 1) {
        line(pen, [[at, TOP - 4], [at, height - BOTTOM]], { colour: scene.theme.text, width: 1.5 });
    }
}

// Lets the pointer choose a moment.
export function pointing(view) {
    const { stage, scene } = view;
    const tell = (event, isDragging) => {
        const { left, width } = stage.getBoundingClientRect();
        const { from, to } = scene.window;
        const time = timeScale(scene.window, width).time(event.clientX - left);
        scene.pointed(Math.min(Math.max(time, from), to), isDragging);
    };
    stage.classList.add("times");
    stage.addEventListener("pointerdown", (event) => {
        if (event.button === 0) {
            stage.setPointerCapture(event.pointerId);
            tell(event, true);
        }
    });
    stage.addEventListener("pointermove", (event) => {
        if (stage.hasPointerCapture(event.pointerId)) {
            tell(event, true);
        } else if (event.pointerType === "mouse") {
            tell(event, false);
        }
    });
    stage.addEventListener("wheel", (event) => {
        if (event.ctrlKey) {
            event.preventDefault();
            scene.window.zoom(Math.exp(event.deltaY / 300));
        }
    }, { passive: false });
}

// A table of the window: `cells(time)` in each row.
export function overTime({ window: { from, to } }, names, cells) {
    const times = Array.from({ length: 21 }, (_, place) => from + ((to - from) * place) / 20);
    return { head: ["Time", ...names], rows: times.map((time) => [moment(time), ...cells(time)]) };
}
