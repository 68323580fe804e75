// Runs scenarios beside a page: a module worker. The first message is { module }, the compiled module of fullpipe-play. Every other
// one is { id, text, seed } and begins a run in place of the one before, or { id: null } and only ends that.
//
// Answers have the id of their run: { id, record, done } with a record as JSON in UTF-8 (a Uint8Array), first of the time until now
// and last, with `done`, of all; or { id, error }, one line for people.

import { Play } from "./play.js";

// So long a slice runs before newer messages are read.
const SLICE_MS = 8;
// A record takes at most this share of the time: it has all samples, so that later ones take longer.
const MAX_SHARE = 0.25;

const slices = new MessageChannel();
let module, id = null, play, shown, cost;

onmessage = ({ data }) => {
    if (data.module) {
        module = data.module;
        return;
    }
    id = data.id;
    play = undefined;
    if (id === null) {
        return;
    }
    answered(() => {
        play = new Play(module, data.text, data.seed);
        shown = performance.now();
        cost = 0;
        slices.port2.postMessage(id);
    });
};

// A message between two slices lets newer messages in.
slices.port1.onmessage = ({ data }) => {
    if (data !== id) {
        return;
    }
    answered(() => {
        const began = performance.now();
        let goesOn = true;
        while (goesOn && performance.now() - began < SLICE_MS) {
            goesOn = play.step(1);
        }
        if (!goesOn || performance.now() - shown > Math.max(SLICE_MS, cost / MAX_SHARE)) {
            show(!goesOn);
        }
        if (goesOn) {
            slices.port2.postMessage(id);
        }
    });
};

function show(done) {
    const began = performance.now();
    const record = play.record();
    postMessage({ id, record, done }, [record.buffer]);
    shown = performance.now();
    cost = shown - began;
}

// An instance that ran out of memory throws, too.
function answered(call) {
    try {
        call();
    } catch (error) {
        postMessage({ id, error: error.message });
        id = null;
        play = undefined;
    }
}
