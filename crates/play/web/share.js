// The state in the fragment of the address, which browsers do not send to servers: `#preset=NAME` for a preset as it is, else
// `#s=…`, JSON that is compressed (RFC 1951) and written as base64url (RFC 4648).

import { preset } from "./presets.js";
import { isReadable, MOST_CHARACTERS, MOST_LINES } from "./state/bounds.js";
import { GOALS, MOST_SEEDS } from "./state/state.js";

// What strangers write is bounded: the fragment, and what it grows to.
const MAX_FRAGMENT = 200_000;
const MAX_BYTES = 1 << 20;

export async function fragment(state) {
    const { text, seeds, source, goal } = state;
    if (state.preset && seeds === 1 && source === null && goal === GOALS[0]) {
        return `#preset=${state.preset}`;
    }
    const kept = { text, seeds, ...(source === null ? {} : { source }), ...(goal === GOALS[0] ? {} : { goal }) };
    const bytes = new TextEncoder().encode(JSON.stringify(kept));
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const packed = new Uint8Array(await new Response(stream).arrayBuffer());
    let binary = "";
    packed.forEach((byte) => (binary += String.fromCharCode(byte)));
    return `#s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// What the fragment has of a state; null if there is none. Throws an Error with one line for people.
export async function fromFragment(hash) {
    const [, key, value] = /^#(preset|s)=(.*)$/s.exec(hash) ?? [];
    if (key === undefined) {
        return null;
    }
    if (key === "preset") {
        const found = preset(value);
        if (!found) {
            throw new Error("the link names a scenario that this page does not have");
        }
        return { text: found.text, preset: found.name, seeds: 1, source: null, goal: GOALS[0] };
    }
    if (value.length > MAX_FRAGMENT) {
        throw new Error(`the link is longer than ${MAX_FRAGMENT} characters`);
    }
    let kept;
    try {
        kept = JSON.parse(await unpacked(value));
    } catch {
        throw new Error("the link is damaged: copy the whole of it");
    }
    const { text, seeds, source = null, goal = GOALS[0] } = kept ?? {};
    const isState =
        typeof text === "string" &&
        Number.isInteger(seeds) && seeds >= 1 && seeds <= MOST_SEEDS &&
        (source === null || typeof source === "string");
    if (!isState) {
        throw new Error("the link has no scenario: copy the whole of it");
    }
    if (!GOALS.includes(goal)) {
        throw new Error("the link names a goal of advice that this page does not have");
    }
    if (![text, source ?? ""].every(isReadable)) {
        throw new Error(`the link has a text of more than ${MOST_CHARACTERS} characters or ${MOST_LINES} lines: share it as a file`);
    }
    return { text, seeds, source, goal, preset: null };
}

async function unpacked(value) {
    const binary = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const parts = [];
    let length = 0;
    for (const reader = stream.getReader(); ; ) {
        const { done, value: part } = await reader.read();
        if (done) {
            break;
        }
        length += part.length;
        if (length > MAX_BYTES) {
            await reader.cancel();
            throw new Error("too long");
        }
        parts.push(part);
    }
    return new Blob(parts).text();
}
