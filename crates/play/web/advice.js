// What `fullpipe advise` says for the path that is shown. The program gives it; elsewhere the page says how to ask for it.

import { button, element } from "./dom.js";
import { fileName } from "./state/document.js";

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
            root.append(element("p", { className: "hint" }, hint), this.ask, this.told);
            return;
        }
        this.command = element("code");
        const hint = "Many runs make an advice, so the program gives it, also on its own page (fullpipe play): download the scenario, and ask ";
        root.append(element("p", {}, hint, this.command));
        state.addEventListener("change", () => this.#name());
        this.#name();
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
