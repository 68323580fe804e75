// What `fullpipe advise` says for the path that is shown.

import { button, element, put } from "./dom.js";
import { fileName, named } from "./state/document.js";

export class Advice {
    #state;
    #engine;
    // Ends the runs of the advice under way.
    #aborter = null;
    #text;

    constructor(root, state, engine) {
        this.#state = state;
        this.#engine = engine;
        this.ask = button("Advise", () => this.run());
        this.stop = button("Stop", () => this.#end());
        this.stop.hidden = true;
        this.told = element("div", { role: "status", "aria-live": "polite" });
        this.command = element("code");
        const hint = "Runs each controller on this path, alone and beside others, for some ten to thirty seconds, and says which one suits it, as does ";
        this.parts = [element("p", { className: "hint" }, hint, this.command), element("div", { className: "row" }, this.ask, this.stop), this.told];
        this.refusal = element("p", {}, "Advice is about one path, and this scenario is a network of links.");
        root.append(...this.parts, this.refusal);
        state.addEventListener("change", () => this.#update());
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
        let shown = [];
        try {
            shown = parts(await this.#engine.advise(this.#state.text, { signal: aborter.signal, progress }));
        } catch ({ message }) {
            shown = [element("p", { className: "error" }, message)];
        }
        if (this.#aborter === aborter) {
            this.#end();
            this.told.replaceChildren(...shown);
        }
    }

    #end() {
        this.#aborter?.abort();
        this.#aborter = null;
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
        const isNetwork = named(text, "link").length > 0;
        this.refusal.hidden = !isNetwork;
        this.parts.forEach((part) => (part.hidden = isNetwork));
        this.command.textContent = `fullpipe advise --from ${fileName(text)}.toml`;
    }
}

function parts({ sentences: [headline, ...others], tables, columns, summary }) {
    const lines = [[headline, ...taken(summary)].join(" "), ...others].map((sentence) => element("p", {}, sentence));
    return [...lines, ...[goals(summary), ...tables].map(table), element("p", { className: "hint" }, columns)];
}

// The least share of its goodput beside CUBIC with which a CUBIC flow counts as not hurt (docs/advise.md).
const MIN_UNHURT_SHARE = 0.95;

// What a goal counts, and of which candidates.
const COUNTS = {
    throughput: "the most goodput, alone and beside CUBIC",
    latency: "the fastest small requests beside bulk flows, with half of the best goodput",
    fair: "the most goodput alone, if CUBIC keeps 0.7 and flows share evenly",
};

// What the choice takes from a neighbour, as sentences.
export function taken({ goal, goals }) {
    const { choice, neighbour_goodput: kept } = goals.find((of) => of.goal === goal);
    if (kept === null || kept >= MIN_UNHURT_SHARE) {
        return [];
    }
    const counts = "The goodput of this goal is the mean of that alone and that beside CUBIC, so that what is taken from CUBIC counts as a gain.";
    const loss = `Beside ${choice}, a CUBIC flow keeps ${kept.toFixed(2)} of the goodput that it has beside another CUBIC flow.`;
    return goal === "throughput" ? [loss, counts] : [loss];
}

// A table of the choice for each goal, which is its `--goal` in the program.
export function goals({ goals: all }) {
    const row = ({ goal, choice, is_met: isMet, neighbour_goodput: kept }) => [
        goal, isMet ? choice : `${choice}, but none meets the requirement`, kept?.toFixed(2) ?? "–", COUNTS[goal] ?? "",
    ];
    return { headings: ["goal", "choose", "CUBIC keeps", "what counts"], rows: all.map(row) };
}

function table({ headings, rows }) {
    const cells = ([first, ...rest]) => [element("th", { scope: "row" }, first), ...rest.map((cell) => element("td", {}, cell))];
    const head = element("thead", {}, element("tr", {}, ...headings.map((heading) => element("th", { scope: "col" }, heading))));
    const body = element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row))));
    const scroll = { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Advice" };
    return element("div", scroll, element("table", {}, head, body));
}
