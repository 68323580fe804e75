// One picture of all views that are shown, where they stand on the page, below a line that says what run they show.

import { write } from "./view.js";

// The room around them.
const MARGIN = 12;
const HEADING = 22;

// Returns a promise of a Blob in PNG.
export function picture(root, views, theme, heading) {
    const around = root.getBoundingClientRect();
    const shown = views.filter(({ figure }) => !figure.hidden);
    const drawn = shown.find(({ below }) => below);
    const scale = drawn ? drawn.below.width / drawn.below.clientWidth : 1;
    const canvas = document.createElement("canvas");
    canvas.width = (around.width + 2 * MARGIN) * scale;
    canvas.height = (around.height + 2 * MARGIN + HEADING) * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = theme.page;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    write(pen, heading, MARGIN, MARGIN, { colour: theme.text, size: 14, weight: "600", baseline: "top" });
    pen.translate(MARGIN - around.left, MARGIN + HEADING - around.top);
    for (const view of shown) {
        for (const drawing of view.figure.querySelectorAll("canvas")) {
            const { left, top, width, height } = drawing.getBoundingClientRect();
            pen.drawImage(drawing, left, top, width, height);
        }
        for (const { text, box, style } of words(view.figure)) {
            const size = parseFloat(style.fontSize);
            const look = { colour: style.color, size, weight: style.fontWeight, baseline: "middle" };
            write(pen, text, box.left, box.top + box.height / 2, look);
        }
    }
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// The words of a figure that are seen, with their places.
function* words(figure) {
    const { right } = figure.getBoundingClientRect();
    const all = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
    for (let node = all.nextNode(); node; node = all.nextNode()) {
        const parent = node.parentElement;
        if (parent.closest("button, caption, [hidden]")) {
            continue;
        }
        const style = getComputedStyle(parent);
        for (const { 0: text, index } of node.data.matchAll(/[^\s\u200b]+/g)) {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + text.length);
            const box = range.getBoundingClientRect();
            // A table that scrolls shows a part of itself.
            if (box.right <= right + 1) {
                yield { text, box, style };
            }
        }
    }
}
