// A text area with numbers of lines, which marks the line of an error. Tab leaves it, as everywhere on the page; lines are indented
// like the one before.

import { element, unique } from "../dom.js";
import { isReadable, MOST_CHARACTERS, MOST_LINES } from "../state/bounds.js";

const TOO_LONG = `the text would have more than ${MOST_CHARACTERS} characters or ${MOST_LINES} lines, and stays as it was: take a shorter one`;

export class Code {
    #gutter;
    // The last text that was readable.
    #kept = "";
    #wrong = null;
    #numbered = "";

    // `input` is called with the text, whenever people change it.
    constructor({ label, input, rows = 16 }) {
        const told = unique("error");
        this.#gutter = element("div", { className: "gutter", "aria-hidden": "true" });
        this.area = element("textarea", {
            rows, spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": label, "aria-describedby": told,
            on: {
                input: () => this.#changed(input),
                paste: (event) => this.#brought(event, event.clipboardData),
                drop: (event) => this.#brought(event, event.dataTransfer),
                scroll: () => (this.#gutter.scrollTop = this.area.scrollTop),
                keydown: (event) => this.#key(event),
            },
        });
        this.told = element("p", { id: told, className: "error", role: "alert", hidden: true });
        this.root = element("div", { className: "code" }, element("div", { className: "numbered" }, this.#gutter, this.area), this.told);
    }

    get text() {
        return this.area.value;
    }

    set text(text) {
        if (text !== this.area.value) {
            this.area.value = text;
        }
        this.#kept = text;
        this.#number();
    }

    // Shows an error, { message, line } with the line from 1 or null; or none.
    problem(problem) {
        this.#wrong = problem?.line ?? null;
        this.told.hidden = !problem;
        this.told.textContent = problem ? (this.#wrong === null ? problem.message : `Line ${this.#wrong}: ${problem.message}`) : "";
        this.area.setAttribute("aria-invalid", String(Boolean(problem)));
        this.#number();
    }

    // Chromium takes minutes to insert a million lines: what is too long is refused before it does.
    #brought(event, data) {
        const { value, selectionStart, selectionEnd } = this.area;
        if (!isReadable(value.slice(0, selectionStart) + data.getData("text/plain") + value.slice(selectionEnd))) {
            event.preventDefault();
            this.problem({ message: TOO_LONG, line: null });
        }
    }

    #changed(input) {
        if (!isReadable(this.area.value)) {
            this.area.value = this.#kept;
            this.problem({ message: TOO_LONG, line: null });
            return;
        }
        this.#kept = this.area.value;
        this.#number();
        input(this.#kept);
    }

    #number() {
        const count = this.area.value.split("\n").length;
        const numbered = `${count} ${this.#wrong}`;
        if (numbered === this.#numbered) {
            return;
        }
        this.#numbered = numbered;
        const lines = Array.from({ length: count }, (_, at) => element("span", { className: at + 1 === this.#wrong ? "wrong" : "" }, String(at + 1)));
        this.#gutter.replaceChildren(...lines);
        this.#gutter.scrollTop = this.area.scrollTop;
    }

    #key(event) {
        if (event.key !== "Enter" || event.isComposing) {
            return;
        }
        const { selectionStart: at, value } = this.area;
        const line = value.slice(value.lastIndexOf("\n", at - 1) + 1, at);
        const indent = /^\s*/.exec(line)[0] + (/[{(]\s*$/.test(line) ? "    " : "");
        if (indent !== "") {
            event.preventDefault();
            this.area.setRangeText(`\n${indent}`, at, this.area.selectionEnd, "end");
            this.area.dispatchEvent(new Event("input"));
        }
    }
}
