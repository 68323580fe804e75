// Elements without markup in strings: whatever a text says, it is text.

// An element with properties, and with children that are elements or text. Names with a dash are attributes, and `on` has listeners.
export function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key === "on") {
            Object.entries(value).forEach(([event, call]) => made.addEventListener(event, call));
        } else if (key.includes("-") || key === "role" || key === "for") {
            made.setAttribute(key, value);
        } else {
            made[key] = value;
        }
    }
    made.append(...children.filter((child) => child !== undefined && child !== null));
    return made;
}

export function button(text, click, properties = {}) {
    return element("button", { type: "button", ...properties, on: { click } }, text);
}

// Changes the text of an element, if it is another one.
export function put(node, text) {
    if (node.textContent !== text) {
        node.textContent = text;
    }
}

// A name for what a label describes.
let last = 0;
export function unique(stem) {
    last += 1;
    return `${stem}-${last}`;
}
