// The link to what is shown, to copy.

import { button, element } from "./dom.js";

// Shows the link. `isLocal` says that the page comes from this machine: then the link is only the part from # on.
export function showLink(address, isLocal) {
    const input = element("input", { type: "text", readOnly: true, value: address, "aria-label": "Link", on: { focus: () => input.select() } });
    const said = element("p", { role: "status", className: "hint" });
    const copy = button("Copy", async () => {
        input.select();
        try {
            await navigator.clipboard.writeText(address);
            said.textContent = "Copied.";
        } catch {
            said.textContent = "Selected: copy it with Ctrl+C.";
        }
    });
    const hint = isLocal
        ? "This page is on your own machine only. To share this link, put the address of a page that others can open in front of it; or send them the TOML."
        : "It contains the whole state: scenario, seeds, and your controller if there is one. The part from # on is not sent to the server.";
    const dialog = element("dialog", { "aria-label": "Share" },
        element("h2", {}, "A link to what you see"), input, element("p", { className: "hint" }, hint), said,
        element("div", { className: "row" }, copy, button("Close", () => dialog.close())));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
}
