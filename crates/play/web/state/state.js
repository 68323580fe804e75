// What the page shows: the text of the scenario, the number of seeds, and the source of one's own controller. Whoever changes it
// calls `change`, and whoever shows it hears "change".

import { first } from "../presets.js";

// What flows call the own controller: `controller = "js:Mine"`.
export const OWN = "Mine";
export const MOST_SEEDS = 9;

export class State extends EventTarget {
    text = first.text;
    seeds = 1;
    // The source of the own controller; null as long as nobody has written one.
    source = null;
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

    // The controllers that a run of this state may need.
    get controllers() {
        return this.source === null ? {} : { [OWN]: this.source };
    }
}
