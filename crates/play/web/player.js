// The moment that the views show: play, pause, scrub, speed. Tells "time", { time_ms }.

import { button, element } from "./dom.js";

const SPEEDS = [0.001, 0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60, 300];
// A run is played in about so long, unless somebody chooses a speed.
const PLAYED_S = 10;
// As long as nobody has chosen a moment, it is so far into the run: near its end, and early enough that the record says what becomes of
// the packets that are in flight then.
const REST = 0.95;
// The scrubber's steps: as fine as a wide screen.
const STEPS = 2000;

export class Player extends EventTarget {
    #length_ms = 0;
    #until_ms = 0;
    #playing = false;
    // Infinity is the end, of whatever run is shown; null is no choice.
    #wanted_ms = null;
    #last;

    constructor(root) {
        super();
        this.play = button("▶ Play", () => this.toggle(), { className: "play" });
        this.scrubber = element("input", {
            type: "range", min: 0, max: STEPS, value: STEPS, "aria-label": "Time",
            on: { input: () => this.at((this.scrubber.value / STEPS) * this.#length_ms) },
        });
        this.clock = element("output", { className: "clock" });
        this.speed = element("select", { "aria-label": "Speed", title: "Seconds of the run in one second" });
        this.speed.append(...SPEEDS.map((speed) => element("option", { value: speed }, `× ${speed}`)));
        root.append(this.play, this.scrubber, this.clock, this.speed);
    }

    // A run of this length, of which `until_ms` is there. The moment stays, or stays the end, while a run has not come so far.
    extent(length_ms, until_ms) {
        if (length_ms !== this.#length_ms) {
            this.#length_ms = length_ms;
            const wanted = length_ms / 1000 / PLAYED_S;
            const distance = (speed) => Math.abs(Math.log(speed / wanted));
            this.speed.value = SPEEDS.reduce((best, speed) => (distance(speed) < distance(best) ? speed : best));
        }
        this.#until_ms = until_ms;
        this.#show();
    }

    // Shows this moment.
    at(time_ms) {
        this.#wanted_ms = time_ms >= this.#length_ms ? Infinity : Math.max(0, time_ms);
        this.#show();
    }

    // Gives up the moment that was chosen.
    rest() {
        this.pause();
        this.#wanted_ms = null;
        this.#show();
    }

    toggle() {
        this.#playing ? this.pause() : this.start();
    }

    start() {
        if (this.#wanted_ms === null || this.#wanted_ms === Infinity) {
            this.at(0);
        }
        this.#playing = true;
        this.play.textContent = "❚❚ Pause";
        this.#last = performance.now();
        requestAnimationFrame((now) => this.#frame(now));
    }

    pause() {
        this.#playing = false;
        this.play.textContent = "▶ Play";
    }

    #frame(now) {
        if (!this.#playing) {
            return;
        }
        const passed = Math.max(0, now - this.#last) * Number(this.speed.value);
        this.#last = now;
        // It waits for a run that has not come so far.
        this.at(Math.min(this.#wanted_ms + passed, Math.max(this.#wanted_ms, this.#until_ms)));
        if (this.#wanted_ms === Infinity) {
            this.pause();
        } else {
            requestAnimationFrame((next) => this.#frame(next));
        }
    }

    #show() {
        const time_ms = Math.min(this.#wanted_ms ?? REST * this.#length_ms, this.#length_ms);
        const text = clock(time_ms, this.#length_ms);
        this.scrubber.value = this.#length_ms > 0 ? (time_ms / this.#length_ms) * STEPS : 0;
        this.scrubber.setAttribute("aria-valuetext", text);
        this.clock.textContent = text;
        this.dispatchEvent(new CustomEvent("time", { detail: { time_ms: Math.min(time_ms, this.#until_ms) } }));
    }
}

function clock(time_ms, length_ms) {
    return length_ms < 1000 ? `${time_ms.toFixed(1)} ms` : `${(time_ms / 1000).toFixed(length_ms < 100_000 ? 2 : 0)} s`;
}
