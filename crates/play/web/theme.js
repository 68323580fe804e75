// Light or dark: as the system says, until somebody chooses. The choice is kept where the browser allows it. Paper is light.

const KEY = "fullpipe-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export class Theme extends EventTarget {
    #chosen = null;
    #isOnPaper = false;

    constructor(button) {
        super();
        this.#chosen = kept();
        const show = () => {
            document.documentElement.dataset.theme = this.name;
            button.textContent = this.name === "dark" ? "Light" : "Dark";
            button.setAttribute("aria-label", this.name === "dark" ? "Light colours" : "Dark colours");
            this.dispatchEvent(new Event("change"));
        };
        button.addEventListener("click", () => {
            this.#chosen = this.name === "dark" ? "light" : "dark";
            keep(this.#chosen);
            show();
        });
        dark.addEventListener("change", show);
        for (const [event, is] of [["beforeprint", true], ["afterprint", false]]) {
            addEventListener(event, () => {
                this.#isOnPaper = is;
                show();
            });
        }
        show();
    }

    get name() {
        return this.#isOnPaper ? "light" : (this.#chosen ?? (dark.matches ? "dark" : "light"));
    }
}

// A page from a disk may have no storage.
function kept() {
    try {
        const name = localStorage.getItem(KEY);
        return name === "dark" || name === "light" ? name : null;
    } catch {
        return null;
    }
}

function keep(name) {
    try {
        localStorage.setItem(KEY, name);
    } catch {
        // The choice lasts as long as the page.
    }
}
