// What the page shows: the text of the scenario, the number of seeds, the source of one's own controller, and the goal of advice.
// Whoever changes it calls `change`, and whoever shows it hears "change". No run needs the goal: `choose` changes it alone, and is heard
// as "goal".

import { first } from "../presets.js";

// What flows call the own controller: `controller = "js:Mine"`.
export const OWN = "Mine";
export const MOST_SEEDS = 9;
// What a controller can be chosen for (docs/advise.md), the usual one first.
export const GOALS = ["throughput", "latency", "fair"];

export class State extends EventTarget {
    text = first.text;
    seeds = 1;
    // The source of the own controller; null as long as nobody has written one.
    source = null;
    goal = GOALS[0];
    // The name of the preset whose text this is; null once it was changed.
    preset = first.name;

    // Takes these values. `by` says who changes them, so that an editor does not overwrite itself.
    change(values, by = null) {
        const before = this.text;
        Object.assign(this, values);
        if (this.text !== before && values.preset === undefined) {
            this.preset = null;
        }
        this.dispatchEvent(new CustomEvent("change", { detail: { by } }));
    }

    choose(goal) {
        this.goal = goal;
        this.dispatchEvent(new CustomEvent("goal"));
    }

    // The controllers that a run of this state may need.
    get controllers() {
        return this.source === null ? {} : { [OWN]: this.source };
    }
}
