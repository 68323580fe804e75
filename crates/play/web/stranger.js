// Asks before a controller runs that a link has brought. Nothing of it runs until then, and nothing at all in a frame: what is around
// it can lead a click to a button that its user does not see.

import { button, element } from "./dom.js";
import { visible } from "./visible.js";

// So long the question is to be seen before it takes an answer: a click that was meant for something else comes earlier. Time in which
// another window is before the page does not count.
const READING_MS = 1000;
const CHANGES = [
    [window, "focus"],
    [window, "blur"],
    [document, "visibilitychange"],
];

let refuse = () => {};

// Answers the question that is open, if there is one, with no.
export function leaveOut() {
    refuse();
}

// Enables the button when the page has been seen for long enough, and disables it while it is not. Returns what ends this.
function enableWhenSeen(run) {
    let timer;
    const begin = () => {
        clearTimeout(timer);
        run.disabled = true;
        if (document.hasFocus() && document.visibilityState === "visible") {
            timer = setTimeout(() => (run.disabled = false), READING_MS);
        }
    };
    for (const [of, name] of CHANGES) {
        of.addEventListener(name, begin);
    }
    begin();
    return () => {
        clearTimeout(timer);
        for (const [of, name] of CHANGES) {
            of.removeEventListener(name, begin);
        }
    };
}

// Shows the source, and resolves to whether it may run.
export function ask(root, source) {
    if (self !== top) {
        const own = element("a", { href: location.href, target: "_blank", rel: "noopener" }, "open it in a tab of its own");
        root.hidden = false;
        root.replaceChildren(element("p", {}, "Another page shows this one, so that no controller of a link runs here: ", own, "."));
        return Promise.resolve(false);
    }
    return new Promise((resolve) => {
        let end = () => {};
        const answer = (may) => () => {
            end();
            refuse = () => {};
            root.hidden = true;
            root.replaceChildren();
            resolve(may);
        };
        refuse = answer(false);
        const run = button("Run it", answer(true));
        end = enableWhenSeen(run);
        const lines = source.split("\n").length;
        const heading = element("h2", { tabIndex: -1 }, "This link brings a controller that somebody has written");
        root.hidden = false;
        root.replaceChildren(
            heading,
            element("p", {}, `It is a program of ${lines} lines. It would run in a sandbox, which can reach no other machine and nothing of this page; read it, and decide.`),
            element("pre", { tabIndex: 0 }, visible(source)),
            element("div", { className: "row" }, run, button("Leave it out", refuse)),
        );
        heading.focus();
    });
}
