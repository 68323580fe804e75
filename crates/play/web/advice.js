// What `fullpipe advise` says for the path that is shown. The program gives it; elsewhere the page says how to ask for it.

import { button, element } from "./dom.js";
import { fileName, named } from "./state/document.js";

export class Advice {
    #state;
    #engine;

    constructor(root, state, engine) {
        this.#state = state;
        this.#engine = engine;
        this.told = element("div", { role: "status", "aria-live": "polite" });
        if (engine.kind === "native") {
            this.ask = button("Advise", () => this.run());
            const hint = "Runs each controller on this path, alone and beside others, for some fifteen seconds, and says which one suits it.";
            this.#offer(root, [element("p", { className: "hint" }, hint), this.ask, this.told]);
            return;
        }
        this.command = element("code");
        const hint = "Many runs make an advice, so the program gives it, also on its own page (fullpipe play): download the scenario, and ask ";
        this.#offer(root, [element("p", {}, hint, this.command)]);
        state.addEventListener("change", () => this.#name());
        this.#name();
    }

    // Shows these for a path. A network gets a sentence in their place.
    #offer(root, parts) {
        const refusal = element("p", {}, "Advice is about one path, and this scenario is a network of links.");
        const update = () => {
            const isNetwork = named(this.#state.text, "link").length > 0;
            refusal.hidden = !isNetwork;
            parts.forEach((part) => (part.hidden = isNetwork));
        };
        root.append(...parts, refusal);
        this.#state.addEventListener("change", update);
        update();
    }

    async run() {
        const { text } = this.#state;
        this.ask.disabled = true;
        this.told.replaceChildren(element("p", {}, "Running…"));
        try {
            const advice = await this.#engine.advise(text);
            this.told.replaceChildren(element("pre", { tabIndex: 0, "aria-label": "Advice" }, advice.text));
        } catch (error) {
            this.told.replaceChildren(element("p", { className: "error" }, error.message));
        } finally {
            this.ask.disabled = false;
        }
    }

    #name() {
        this.command.textContent = `fullpipe advise --from ${fileName(this.#state.text)}.toml`;
    }
}
