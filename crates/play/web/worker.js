// Runs scenarios beside a page, in a worker. A message is { id, text, seed, controllers } and begins a run in place of the one before, or
// { id: null } and only ends that. `controllers` has sources in JavaScript by name. With `only: "check"` the run ends before its first step.
// With `only: "plan"` there is none: the record is the plan of the runs for advice on the text. With `only: "measure"` the record of the run
// is what advice needs of it, and with `only: "advise"`, whose `measured` has this of each run or null, it is the advice.
//
// The first answer is { ready: true }. The others have the id of their run: { id, record, done } with a record as bytes (a Uint8Array),
// first of the time until now and last, with `done`, of all; { id, error }, an object with a `message` and, of an error in a controller,
// the `line` of its source and as `where` its name; or { id } several times a second while there is nothing to show. While a run goes on,
// they have the `memory` that it has taken, in bytes.

import { Advising } from "./advising.js";
import { load } from "./controller.js";
import { Play } from "./play.js";

// So long a slice runs before newer messages are read.
const SLICE_MS = 8;
// A record takes at most this share of the time: it has all samples, so that later ones take longer.
const MAX_SHARE = 0.25;
// The longest time without an answer.
const MAX_SILENCE_MS = 250;
// The most characters of an error.
const MAX_MESSAGE = 500;

const slices = new MessageChannel();
let say, compiled, id = null, play, isMeasured, shown, cost, told;

// Serves the page at this port with the compiled module of fullpipe-play. A controller can change all of a worker, but not what is bound
// before one is loaded: so it finds no way to the port.
export function serve(port, module) {
    const { get } = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
    const dataOf = get.call.bind(get);
    say = port.postMessage.bind(port);
    compiled = module;
    // A controller has this thread, and no others.
    delete self.Worker;
    port.onmessage = (event) => hear(dataOf(event));
    say({ ready: true });
}

async function hear(data) {
    id = data.id;
    play = undefined;
    if (id === null) {
        return;
    }
    try {
        const controllers = {};
        for (const [name, source] of Object.entries(data.controllers ?? {})) {
            controllers[name] = await load(name, source);
        }
        if (data.id === id) {
            begin(data, controllers);
        }
    } catch (error) {
        fail(error, data.id);
    }
}

function begin({ text, seed, only, measured }, controllers) {
    if (only === "plan" || only === "advise") {
        end(advised(text, measured));
        return;
    }
    play = new Play(compiled, text, seed, controllers);
    isMeasured = only === "measure";
    if (only === "check") {
        answer({ done: true });
        return;
    }
    shown = told = performance.now();
    cost = 0;
    slices.port2.postMessage(id);
}

// The plan for this text, or, with what its runs have measured, the advice.
function advised(text, measured) {
    const advising = new Advising(compiled, text);
    if (!measured) {
        return advising.plan;
    }
    measured.forEach((bytes, place) => bytes && advising.note(place, bytes));
    return advising.answer();
}

// A message between two slices lets newer messages in.
slices.port1.onmessage = ({ data }) => {
    if (data !== id) {
        return;
    }
    try {
        const began = performance.now();
        let goesOn = true;
        while (goesOn && performance.now() - began < SLICE_MS) {
            goesOn = play.step(1);
        }
        if (!goesOn && isMeasured) {
            end(play.measured());
        } else if (!goesOn || (!isMeasured && performance.now() - shown > Math.max(SLICE_MS, cost / MAX_SHARE))) {
            show(!goesOn);
        } else if (performance.now() - told > MAX_SILENCE_MS) {
            answer({});
        }
        if (goesOn) {
            slices.port2.postMessage(id);
        } else {
            // What is over takes no memory.
            play = undefined;
        }
    } catch (error) {
        fail(error, id);
    }
};

function show(done) {
    const began = performance.now();
    const record = play.record();
    answer({ record, done }, [record.buffer]);
    shown = performance.now();
    cost = shown - began;
}

function end(record) {
    answer({ record, done: true }, [record.buffer]);
}

function answer(message, transfer = []) {
    say({ id, memory: play?.memory, ...message }, transfer);
    told = performance.now();
}

// An instance that ran out of memory throws, too, and a controller can throw anything.
function fail(error, of) {
    if (of === id) {
        const message = String(error?.message).slice(0, MAX_MESSAGE);
        answer({ error: { message, line: error?.line, where: error?.where } });
        id = null;
        play = undefined;
    }
}
