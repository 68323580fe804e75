// A text in which every character is seen. Browsers show nothing for many, and let some change the order of others, so that a source can
// read otherwise than it runs (Boucher and Anderson, Trojan Source, 2021).

const UNSEEN = /(?!\t|\r?\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

// The text with escapes, as JavaScript writes them, for characters that are not seen.
export function visible(text) {
    return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`);
}
