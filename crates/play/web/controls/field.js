// A quantity as a slider and as a field with its unit. The slider is logarithmic, since paths differ by orders of magnitude.

import { element, unique } from "../dom.js";
import { format, parse } from "../state/quantity.js";

const STEPS = 400;

// `get` returns the value as text or undefined, and `set` takes it. `low` and `high` are the slider's ends in the kind's base unit;
// `bare` is the unit of a number alone in a field that is empty, and `line` returns the line that the value has in the text, from 0.
// With `zero`, the left end is `zero`: the value that means none, or undefined for no value at all.
export class Field {
    #spec;
    #shown = null;

    constructor(spec) {
        this.#spec = spec;
        const id = unique("field");
        this.slider = element("input", { type: "range", min: 0, max: STEPS, "aria-label": spec.label, on: { input: () => this.#slid() } });
        this.input = element("input", {
            id, type: "text", autocomplete: "off", spellcheck: false, autocapitalize: "off", placeholder: spec.none ?? "",
            on: { change: () => this.#typed() },
        });
        this.root = element("div", { className: "field" }, element("label", { for: id, title: spec.help ?? "" }, spec.label), this.input, this.slider);
        this.update();
    }

    update() {
        const text = this.#spec.get();
        if (document.activeElement !== this.input && this.input.value !== (text ?? "")) {
            this.input.value = text ?? "";
        }
        if (text === this.#shown) {
            return;
        }
        this.#shown = text;
        if (document.activeElement !== this.slider) {
            this.slider.value = this.#place(text);
        }
        this.slider.setAttribute("aria-valuetext", text ?? this.#spec.none ?? "none");
    }

    // Marks the field if this line of the text, from 1 on, is wrong: the simulator says which. Null marks none.
    problem(line) {
        const isOwn = line !== null && this.#spec.line?.() === line - 1;
        this.input.setAttribute("aria-invalid", String(isOwn));
    }

    #ends(unit) {
        return this.#spec.ends?.(unit) ?? [this.#spec.low, this.#spec.high];
    }

    #place(text) {
        const value = parse(this.#spec.kind, text);
        const first = "zero" in this.#spec ? 1 : 0;
        if (value === null || (value.number === 0 && first === 1)) {
            return 0;
        }
        const [low, high] = this.#ends(value.unit);
        const share = Math.log(value.number / low) / Math.log(high / low);
        return Math.round(first + Math.max(0, Math.min(1, share)) * (STEPS - first));
    }

    #slid() {
        const { kind, get, set } = this.#spec;
        const place = Number(this.slider.value);
        const first = "zero" in this.#spec ? 1 : 0;
        if (place < first) {
            set(this.#spec.zero);
            return;
        }
        const old = parse(kind, get());
        const unit = this.#spec.ends ? (old?.unit ?? this.#spec.unit) : undefined;
        const [low, high] = this.#ends(unit);
        const number = low * (high / low) ** ((place - first) / (STEPS - first));
        set(this.#spec.ends ? `${format(kind, two(number), unit)}` : format(kind, two(number)));
    }

    #typed() {
        const text = this.input.value.trim();
        const { kind, set, zero, get, bare = "" } = this.#spec;
        const isNumber = /^[\d.]+$/.test(text);
        // A number alone has the unit that was there, or else the field's own.
        const value = isNumber ? text + (parse(kind, get())?.unit || bare) : text;
        set(value === "" ? zero : value);
    }
}

// Two significant digits are enough for a slider.
function two(number) {
    return Number(number.toPrecision(2));
}

// A choice among names, with the value as it is if it is none of them.
export class Choice {
    #get;
    #options;

    // `label` is text or an element.
    constructor({ label, options, get, set, help = "" }) {
        this.#get = get;
        this.#options = options;
        const id = unique("choice");
        this.select = element("select", { id, on: { change: () => set(this.select.value) } });
        this.root = element("div", { className: "field choice" }, element("label", { for: id, title: help }, label), this.select);
        this.update();
    }

    update() {
        const value = this.#get();
        const known = this.#options();
        const all = known.some(([name]) => name === value) ? known : [...known, [value, value]];
        const isSame = this.select.options.length === all.length && all.every(([name], place) => this.select.options[place].value === name);
        if (!isSame) {
            this.select.replaceChildren(...all.map(([name, title]) => element("option", { value: name }, title)));
        }
        if (this.select.value !== value) {
            this.select.value = value;
        }
    }
}
