// What `fullpipe advise` says for the path that is shown.

import { button, element, put, unique } from "./dom.js";
import { fileName, named } from "./state/document.js";
import { GOALS } from "./state/state.js";

export class Advice {
    #state;
    #engine;
    // The answer that is shown: one has the advice for each goal.
    #answer = null;
    // Ends the runs of the advice under way.
    #aborter = null;
    #text;

    constructor(root, state, engine) {
        this.#state = state;
        this.#engine = engine;
        this.ask = button("Advise", () => this.run());
        this.stop = button("Stop", () => this.#end());
        this.stop.hidden = true;
        const id = unique("goal");
        this.goal = element("select", { id, on: { change: () => state.choose(this.goal.value) } }, ...GOALS.map((name) => element("option", { value: name }, name)));
        this.told = element("div", { role: "status", "aria-live": "polite" });
        this.command = element("code");
        const hint = "Runs each controller on this path, alone and beside others, for some ten to thirty seconds, and says which one suits it, as does ";
        const row = element("div", { className: "row" }, element("label", { for: id }, "Goal"), this.goal, this.ask, this.stop);
        this.parts = [element("p", { className: "hint" }, hint, this.command), row, this.told];
        this.refusal = element("p", {}, "Advice is about one path, and this scenario is a network of links.");
        root.append(...this.parts, this.refusal);
        state.addEventListener("change", () => this.#update());
        state.addEventListener("goal", () => this.#choose());
        this.#update();
    }

    // Runs what the advice takes, and shows it. A change of the scenario ends the runs.
    async run() {
        this.#end();
        const aborter = new AbortController();
        this.#aborter = aborter;
        this.ask.disabled = true;
        this.stop.hidden = false;
        const line = element("p", {}, "Running…");
        const bar = element("progress", { value: 0, "aria-label": "Runs that are over" });
        this.told.replaceChildren(line, bar);
        const progress = ({ about, done, of }) => {
            put(line, about);
            Object.assign(bar, { max: of, value: done });
        };
        let answer = null, error;
        try {
            answer = await this.#engine.advise(this.#state.text, { signal: aborter.signal, progress });
        } catch ({ message }) {
            error = element("p", { className: "error" }, message);
        }
        if (this.#aborter === aborter) {
            this.#end();
            this.#answer = answer;
            this.told.replaceChildren(...(answer ? parts(answer, this.#state.goal) : [error]));
        }
    }

    // Shows the goal, and the answer for it. Its runs are the same.
    #choose() {
        this.goal.value = this.#state.goal;
        this.#name();
        if (this.#answer) {
            this.told.replaceChildren(...parts(this.#answer, this.#state.goal));
        }
    }

    #end() {
        this.#aborter?.abort();
        this.#aborter = this.#answer = null;
        this.ask.disabled = false;
        this.stop.hidden = true;
        this.told.replaceChildren();
    }

    #update() {
        const { text } = this.#state;
        // Advice for another path would mislead.
        if (text !== this.#text) {
            this.#text = text;
            this.#end();
        }
        if (this.goal.value !== this.#state.goal) {
            this.#choose();
        }
        const isNetwork = named(text, "link").length > 0;
        this.refusal.hidden = !isNetwork;
        this.parts.forEach((part) => (part.hidden = isNetwork));
        this.#name();
    }

    // Names the command that says the same.
    #name() {
        const { text, goal } = this.#state;
        const option = goal === GOALS[0] ? "" : ` --goal ${goal}`;
        this.command.textContent = `fullpipe advise --from ${fileName(text)}.toml${option}`;
    }
}

// The advice for a goal as elements.
function parts(answer, goal) {
    const { sentences, rivals } = answer.goals.find((of) => of.goal === goal);
    const tables = [choices(answer.summary), ...(rivals ? [rivals] : []), answer.candidates];
    const lines = sentences.map((sentence) => element("p", {}, sentence));
    return [...lines, ...tables.map(table), element("p", { className: "hint" }, answer.columns)];
}

// A table of the choice for each goal.
export function choices({ goals }) {
    const row = ({ goal, choice, is_met: isMet, neighbour_goodput: kept }) => [
        goal, isMet ? choice : `${choice}, but none meets the requirement`, kept?.toFixed(2) ?? "–",
    ];
    return { headings: ["goal", "choose", "CUBIC keeps"], rows: goals.map(row) };
}

function table({ headings, rows }) {
    const cells = ([first, ...rest]) => [element("th", { scope: "row" }, first), ...rest.map((cell) => element("td", {}, cell))];
    const head = element("thead", {}, element("tr", {}, ...headings.map((heading) => element("th", { scope: "col" }, heading))));
    const body = element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row))));
    const scroll = { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Advice" };
    return element("div", scroll, element("table", {}, head, body));
}
