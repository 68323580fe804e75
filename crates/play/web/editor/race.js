// A race: one controller alone on the path of the shown scenario, and beside each controller of the list. A run for each.

import { button, element } from "../dom.js";
import { CONTROLLERS, OWN_CONTROLLER, title } from "../flows.js";
import { blocks, remove, source } from "../state/document.js";
import { shown } from "../state/quantity.js";

export class Race {
    #root;
    #state;
    #engine;
    #runs = [];

    constructor(root, state, engine) {
        this.#root = root;
        this.#state = state;
        this.#engine = engine;
        this.who = element("select", { "aria-label": "Controller in the race" });
        this.body = element("tbody");
        this.told = element("p", { className: "error", role: "alert", hidden: true });
        const heads = ["Beside", "Its goodput", "The other's", "Its RTT", "It resends"];
        const head = element("tr", {}, ...heads.map((name) => element("th", { scope: "col" }, name)));
        const table = element("table", {}, element("thead", {}, head), this.body);
        const hint = "On the path that is shown, from the same start, with as much to send as they can: one controller alone, and beside each of the list.";
        root.append(
            element("p", { className: "hint" }, hint),
            element("div", { className: "row" }, this.who, button("Race", () => this.run(this.who.value))),
            this.told,
            element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Race" }, table),
        );
        this.#choices("bbr1");
        state.addEventListener("change", () => this.#choices(this.who.value));
    }

    // Races this controller, and shows the rows as they come.
    run(controller) {
        this.#root.open = true;
        this.#choices(controller);
        this.#runs.forEach((run) => run.cancel());
        this.told.hidden = true;
        const rivals = [null, ...CONTROLLERS.map(([name]) => name)];
        const rows = rivals.map((rival) => {
            const cells = Array.from({ length: 4 }, () => element("td", {}, "…"));
            return { rival, cells, row: element("tr", {}, element("th", { scope: "row" }, rival ? title(rival) : "alone"), ...cells) };
        });
        this.body.replaceChildren(...rows.map(({ row }) => row));
        const beside = raced(this.#state.text, controller);
        this.#runs = rows.map(({ rival, cells }) => {
            const options = { slot: `race ${rival}`, controllers: this.#state.controllers };
            return this.#engine.run(beside(rival), options, {
                record: (record, done) => done && result(cells, record.summary.flows),
                error: (problem) => {
                    cells.forEach((cell) => (cell.textContent = "–"));
                    this.told.hidden = false;
                    this.told.textContent = problem.message;
                },
            });
        });
        this.#root.scrollIntoView({ block: "nearest" });
    }

    #choices(chosen) {
        const all = [...CONTROLLERS, ...(this.#state.source === null ? [] : [[OWN_CONTROLLER, title(OWN_CONTROLLER)]])];
        this.who.replaceChildren(...all.map(([name, text]) => element("option", { value: name }, text)));
        this.who.value = all.some(([name]) => name === chosen) ? chosen : "bbr1";
    }
}

function result(cells, [own, other]) {
    cells[0].textContent = shown("rate", own.goodput_bps);
    cells[1].textContent = other ? shown("rate", other.goodput_bps) : "";
    cells[2].textContent = shown("time", own.rtt_ms ? own.rtt_ms.p50 / 1000 : null);
    cells[3].textContent = shown("share", own.sent_bytes > 0 ? own.retransmitted_bytes / own.sent_bytes : null);
}

// The scenario for one flow with this controller, as a function of its rival, which is null for none. Both are like the first flow, with
// as much to send as they can. The text is read once, however many flows it has.
export function raced(text, controller) {
    const isPart = ({ name }) => name.startsWith("flow.");
    const all = blocks(text).filter((block) => block.name === "flow" || isPart(block));
    const others = remove(text, all);
    const [first, ...rest] = all;
    const after = rest.findIndex((block) => !isPart(block));
    const parts = rest.slice(0, after < 0 ? rest.length : after).filter(({ name }) => name !== "flow.app");
    const [, ...values] = first ? source(text, first, ["controller", "count", "start", "app", "bytes"]).split("\n") : [];
    const kept = [...values, ...parts.map((block) => source(text, block))];
    const flow = (name) => ["[[flow]]", `controller = "${name}"`, ...kept].join("\n");
    return (rival) => [others, flow(controller), ...(rival === null ? [] : [flow(rival)]), ""].join("\n");
}
