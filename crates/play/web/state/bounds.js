// How long a text may be that a link or a paste brings, so that the page can show it and read it at once.

export const MOST_CHARACTERS = 1 << 16;
export const MOST_LINES = 5000;

// So many marks on one letter take a browser seconds to draw: the time is quadratic.
const TOO_MANY_MARKS = /\p{M}{17}/u;

export function isReadable(text) {
    return text.length <= MOST_CHARACTERS && text.split("\n").length <= MOST_LINES && !TOO_MANY_MARKS.test(text);
}
