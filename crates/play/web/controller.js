// Controllers in JavaScript: somebody's classes, as the module calls them. docs/play.md has their methods. The order of events, numbers
// and answers is that of src/javascript.rs.

import { addressOf } from "./address.js";

const EVENTS = ["on_ack", "on_sent", "on_loss", "on_recovery", "on_timeout", "on_idle_restart", "on_handshake"];
const FLAGS = ["wants_prr", "responds_to_ecn", "needs_pacing"];
const CHANGES = ["loss", "ecn", "repaired", "left", "undone"];
const ANSWER = 14, ABILITIES = 0, LENGTH = 18;
// In bytes, for all connections together: larger windows would only fill memory.
const MAX_CWNDS = 1e9;

// Something is wrong with a controller. `where` is its name, and `line` the line of its source, or null.
export class ControllerError extends Error {
    constructor(message, where, line) {
        super(message);
        Object.assign(this, { where, line });
    }
}

const loaded = new Map();

// The class that a source exports.
export async function load(name, source) {
    const known = loaded.get(name);
    if (known?.source === source) {
        return known;
    }
    const file = `${name}.js`;
    // Stacks name the file instead of the address.
    const address = await addressOf(source, `\n//# sourceURL=${file}`);
    let made;
    try {
        made = (await import(address)).default;
    } catch (error) {
        const wrong = failed(error, { name, file, address });
        // The line that ends too early may be the one after the source.
        wrong.line &&= Math.min(wrong.line, source.split("\n").length);
        throw wrong;
    }
    if (typeof made !== "function") {
        throw new ControllerError(`export the class: export default class ${name} { … }`, name, null);
    }
    const controller = { made, source, file };
    loaded.set(name, controller);
    return controller;
}

// What a method answered is wrong.
class AnswerError extends Error {
    constructor(method, message) {
        super(`${method}: ${message}`);
        this.method = method;
    }
}

function failed(error, { name, file, address, source }) {
    if (error instanceof AnswerError) {
        const line = source?.split("\n").findIndex((line) => line.includes(error.method)) + 1;
        return new ControllerError(error.message, name, line || null);
    }
    try {
        const text = error instanceof Error ? `${error.name}: ${error.message}` : `it threw ${error}`;
        return new ControllerError(text, name, lineOf(error, file, address));
    } catch {
        return new ControllerError("it threw something that has no text", name, null);
    }
}

// The line of the source at which an error was thrown.
function lineOf(error, file, address) {
    for (const frame of String(error?.stack).split("\n")) {
        const at = frame.lastIndexOf(`${file}:`);
        if (at >= 0) {
            return parseInt(frame.slice(at + file.length + 1), 10);
        }
    }
    // The stack of a syntax error does not say it, but the event that reports one does. The source's own name is at its end, which may
    // not have been read.
    let line = null;
    const note = (event) => {
        line = event.filename === address || event.filename?.endsWith(file) ? event.lineno : null;
        event.preventDefault();
    };
    addEventListener("error", note);
    reportError(error);
    removeEventListener("error", note);
    return line;
}

// The objects of a run. `classes` has what `load` returned, by name.
export class Controllers {
    #classes;
    #objects = new Map();
    #next = 0;
    #exports;
    #states;
    #numbers = new Float64Array(0);

    constructor(classes) {
        this.#classes = classes;
    }

    // What the module imports.
    get imports() {
        return {
            create: (name, length, values) => this.#create(name, length, values),
            tell: (object, event, values) => this.#tell(this.#objects.get(object), EVENTS[event], values),
            forget: (object) => this.#objects.delete(object),
        };
    }

    // Gives it the instance that calls it, and the names of the states.
    connect(exports, states) {
        this.#exports = exports;
        this.#states = states;
    }

    #at(values) {
        const { buffer } = this.#exports.memory;
        // Memory that grows is another buffer.
        if (this.#numbers.buffer !== buffer) {
            this.#numbers = new Float64Array(buffer);
        }
        return this.#numbers.subarray(values / 8, values / 8 + LENGTH);
    }

    #create(name, length, values) {
        const wanted = new TextDecoder().decode(new Uint8Array(this.#exports.memory.buffer, name, length));
        const numbers = this.#at(values);
        const [now_ns, mss, initial_cwnd, seed] = numbers;
        const known = Object.hasOwn(this.#classes, wanted) ? this.#classes[wanted] : null;
        if (known === null) {
            throw new ControllerError("there is no controller with this name; write one, or name one of those there are", wanted, null);
        }
        const controller = { name: wanted, ...known, mss };
        // Even a name may be a getter of somebody's.
        const abilities = this.#within(controller, () => {
            const object = new known.made({ mss, initial_cwnd, now_ns, seed });
            controller.object = object;
            this.#look(controller, numbers);
            return [...EVENTS.map((event) => typeof object[event] === "function"), ...FLAGS.map((flag) => Boolean(object[flag]))];
        });
        if (!abilities[EVENTS.indexOf("on_ack")]) {
            throw new ControllerError("on_ack is missing; add on_ack(ack), which returns [cwnd in bytes, pacing rate in bit/s]", wanted, null);
        }
        numbers[ABILITIES] = abilities.reduce((bits, has, place) => bits + (has ? 2 ** place : 0), 0);
        this.#objects.set(++this.#next, controller);
        return this.#next;
    }

    #tell(controller, event, values) {
        const numbers = this.#at(values);
        this.#within(controller, () => {
            const said = controller.object[event](...given(event, numbers));
            if (said !== undefined && said !== null) {
                learn(controller, event, said, numbers, MAX_CWNDS / this.#objects.size);
            } else if (event === "on_ack") {
                throw wrong(event, said);
            }
            this.#look(controller, numbers);
        });
    }

    // The values that only records need.
    #look({ object }, numbers) {
        const { state, ssthresh } = object;
        if (state !== undefined) {
            const index = this.#states.indexOf(state);
            if (index < 0) {
                throw new AnswerError("state", `${shown(state)} is not a state of a controller; give one of ${this.#states.join(", ")}`);
            }
            numbers[ANSWER + 2] = index;
        }
        if (ssthresh !== undefined && ssthresh !== null) {
            if (!(typeof ssthresh === "number" && ssthresh >= 0)) {
                throw new AnswerError("ssthresh", `${shown(ssthresh)} is no number of bytes; give one of 0 or more, or null`);
            }
            numbers[ANSWER + 3] = ssthresh;
        }
    }

    // Calls somebody's code. An error ends the run: it passes through the module, which is not called again.
    #within(controller, call) {
        try {
            return call();
        } catch (error) {
            throw failed(error, controller);
        }
    }
}

// The arguments of a method.
function given(event, numbers) {
    if (event === "on_ack") {
        return [ack(numbers)];
    }
    if (event === "on_recovery") {
        return [numbers[0], CHANGES[numbers[1]], numbers[2]];
    }
    const counts = { on_sent: 3, on_loss: 3, on_timeout: 2, on_idle_restart: 1, on_handshake: 2 };
    return numbers.subarray(0, counts[event]);
}

function ack(numbers) {
    const known = (number) => (Number.isNaN(number) ? null : number);
    return {
        now_ns: numbers[0],
        newly_acked: numbers[1],
        prior_inflight: numbers[2],
        inflight: numbers[3],
        rtt_ns: known(numbers[4]),
        delivery_rate_bps: known(numbers[5]),
        delivered: numbers[6],
        prior_delivered: numbers[7],
        lost: numbers[8],
        ce_marked: numbers[9],
        is_app_limited: numbers[10] === 1,
        is_cwnd_limited: numbers[11] === 1,
        is_window_full: numbers[12] === 1,
        is_progress: numbers[13] === 1,
    };
}

function learn({ mss }, event, said, numbers, most) {
    // Each is read once: what an answer gives the second time may be another number.
    const answer = Array.isArray(said) && said.length === 2 ? [said[0], said[1]] : [];
    if (answer.length === 0 || !answer.every((number) => typeof number === "number" && number >= 0)) {
        throw wrong(event, said);
    }
    const [cwnd, rate] = answer;
    if (cwnd < mss) {
        throw new AnswerError(event, `a window of ${cwnd} bytes is less than a packet; give at least ${mss}`);
    }
    if (rate < 8) {
        throw new AnswerError(event, `at ${rate} bit/s nothing would ever leave; give a pacing rate of 8 or more`);
    }
    numbers[ANSWER] = Math.min(cwnd, most);
    numbers[ANSWER + 1] = rate;
}

function wrong(event, said) {
    return new AnswerError(event, `${shown(said)} is not a window with a pacing rate; return [cwnd in bytes, pacing rate in bit/s]`);
}

function shown(value) {
    return Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}
