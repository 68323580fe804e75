// The states of several flows over time: a ribbon for each. Ribbons of many flows are thin and have no letters: they show how the flows
// fall into step. Names are at some of them.

import { moment } from "./axis.js";
import { after } from "./search.js";
import { drawStays } from "./stays.js";
import { BOTTOM, LEFT, drawMoment, drawTimes, overTime, pointing } from "./times.js";
import { View, widthOf, write } from "./view.js";

const TOP = 4, GAP = 2;
const HIGHEST = 18, LOWEST = 4, MOST = 240;
// The room of names beside the ribbons, the sizes of their letters, and the least distance between two.
const ROOM = LEFT - 6, SIZES = [10, 9], APART = 10;
// Where only some ribbons have a name: the first, and each whose place is a multiple of one of these.
const MULTIPLES = [1, 2, 5];

// The places of the ribbons that have a name, of `count` ribbons of this height.
export function namedPlaces(count, each) {
    const by = MULTIPLES.find((by) => by * each >= APART);
    const places = [];
    for (let place = 0; place < count; place++) {
        const isApart = places.length === 0 || (place - places.at(-1)) * each >= APART;
        if (isApart && (place === 0 || (place + 1) % by === 0)) {
            places.push(place);
        }
    }
    return places;
}

// A flow's name that fits beside its ribbon, and the size of its letters. The end of it tells flows of a controller apart: where there
// is no room for all words, the first go. `width(text, size)` measures.
export function fittingName(label, width) {
    for (let name = label; ; name = name.slice(name.indexOf(" ") + 1)) {
        const size = SIZES.find((size) => width(name, size) <= ROOM);
        if (size || !name.includes(" ")) {
            return [name, size ?? SIZES.at(-1)];
        }
    }
}

export class Ribbons extends View {
    constructor(scene, root) {
        super(scene, root, "states", "States");
        pointing(this);
    }

    isShown() {
        const { run } = this.scene;
        if (this.run !== run) {
            this.run = run;
            const flows = run.flows.length > 1 ? run.flows.filter(({ stays }) => stays.length > 0) : [];
            this.flows = flows.slice(0, MOST / LOWEST);
            this.isCut = this.flows.length < flows.length;
        }
        return this.flows.length > 0;
    }

    get each() {
        return Math.min(Math.max(MOST / this.flows.length, LOWEST), HIGHEST);
    }

    height() {
        return TOP + BOTTOM + this.flows.length * this.each;
    }

    unit() {
        return this.isCut ? `of the first ${this.flows.length} flows` : "of each flow";
    }

    ground(pen, size) {
        const { scene, flows, each } = this;
        const fits = (place) => [place, ...fittingName(flows[place].label, (name, size) => widthOf(pen, name, size))];
        const named = namedPlaces(flows.length, each).map(fits);
        const letters = Math.min(...named.map(([, , size]) => size));
        pen.clearRect(0, 0, size.width, size.height);
        drawTimes(pen, scene, size);
        flows.forEach((flow, place) => {
            const y = TOP + place * each, { colour } = scene.look(flow);
            const gap = each > 8 ? GAP : 0.5;
            drawStays(pen, scene, flow, [y + gap / 2, each - gap], size.width, true);
            pen.fillStyle = colour;
            pen.fillRect(LEFT - 5, y + gap / 2, 4, each - gap);
        });
        for (const [place, name] of named) {
            const { colour } = scene.look(flows[place]);
            write(pen, name, ROOM, TOP + (place + 0.5) * each + 0.5, { colour, size: letters, align: "right", baseline: "middle" });
        }
    }

    moving(pen, size) {
        drawMoment(pen, this.scene, size);
    }

    // The state of a flow at a time.
    #state({ stays }, time) {
        const place = after(stays.map(({ from }) => from), time) - 1;
        return place >= 0 && stays[place].to >= time ? stays[place].name : "–";
    }

    said() {
        const { flows, scene: { time_ms } } = this;
        const count = new Map();
        for (const flow of flows) {
            const state = this.#state(flow, time_ms);
            count.set(state, [...(count.get(state) ?? []), flow.label]);
        }
        const who = (names) => (names.length > 6 ? `${names.length} flows` : names.join(", "));
        const told = [...count].map(([state, names]) => `${state}: ${who(names)}`);
        return `at ${moment(time_ms, 2)}: ${told.join("; ")}`;
    }

    table() {
        const { flows, scene } = this;
        return overTime(scene, flows.map(({ label }) => label), (time) => flows.map((flow) => this.#state(flow, time)));
    }
}
