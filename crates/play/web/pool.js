// Workers that run scenarios beside the page. Each has one run at a time.

import { gather } from "./gather.js";
import { isName } from "./head.js";
import { loadModule, loadScript } from "./parts.js";
import { visible } from "./visible.js";
import { Sandbox, openWorker } from "./workers.js";

// A worker that says nothing for so long is ended: it says something several times a second, once it has started.
const SILENCE_MS = 3000;
const START_MS = 20_000;
// A worker that says more than this is ended. The simulator says something at most every 8 ms, also to a page that listens later.
const MOST_AT_ONCE = 2000, MOST_PER_SECOND = 200;
// Of records of parts of a run, a page reads so many that they take at most this share of its time.
const MAX_SHARE = 0.25;
// In bytes: the most that all runs take together, which is what one may take. Runs that would take more go on one after the other.
const MOST_MEMORY = 1500 * 2 ** 20;
// A worker that has taken more is of no use to the next run, which would add to it.
const MOST_KEPT = 2 ** 27;
// The most characters of an error.
const MAX_MESSAGE = 500;
const NO_SOURCES = "{}";

export class Pool {
    #script;
    #module;
    #sandbox;
    #idle = [];
    #waiting = [];
    #busy = new Set();
    #most = Math.max(2, navigator.hardwareConcurrency ?? 2);
    #next = 0;

    // Loads the module and the script, and starts the first worker.
    static async open() {
        const pool = new Pool();
        const [bytes, script] = await Promise.all([loadModule(), loadScript()]);
        pool.#script = script;
        pool.#module = await WebAssembly.compile(bytes);
        pool.#sandbox = new Sandbox(script, bytes);
        pool.#idle.push(pool.#worker(false));
        return pool;
    }

    // Opens the sandbox before a run needs it.
    prepare() {
        this.#sandbox.prepare();
    }

    // Starts a run, or lets it wait for its turn. It takes the place of `before`, a run that may be over.
    start(task, hear, before) {
        const job = { id: ++this.#next, task, hear, worker: null, isLarge: false };
        if (before?.worker && isReusable(before.worker) && sources(before) === sources(job)) {
            job.worker = before.worker;
            before.worker = null;
            this.#send(job);
            return job;
        }
        this.cancel(before);
        this.#waiting.push(job);
        this.#serve();
        return job;
    }

    // Ends a run, if it is not over.
    cancel(job) {
        this.#waiting = this.#waiting.filter((other) => other !== job);
        if (job?.worker) {
            job.worker.port.postMessage({ id: null });
            this.#release(job);
        }
    }

    // Resolves to the error of a scenario, or null.
    check(task) {
        return new Promise((resolve) => {
            this.start({ ...task, only: "check" }, { record: () => resolve(null), error: resolve });
        });
    }

    // Resolves to advice for the path of a scenario.
    advise(text, options) {
        return gather(this, text, options);
    }

    // The most runs at a time.
    get width() {
        return this.#most;
    }

    // Starts the runs whose turn it is. A large one runs alone.
    #serve() {
        const isFull = () => this.#busy.size >= this.#most || [...this.#busy].some(({ job }) => job.isLarge);
        while (this.#waiting.length > 0 && !isFull() && !(this.#waiting[0].isLarge && this.#busy.size > 0)) {
            const job = this.#waiting.shift();
            const isSandboxed = sources(job) !== NO_SOURCES;
            job.worker = (isSandboxed ? null : this.#idle.pop()) ?? this.#worker(isSandboxed);
            this.#send(job);
        }
    }

    #send(job) {
        const { worker } = job;
        Object.assign(worker, { job, since: performance.now(), said: 0, memory: 0, readsFrom: 0 });
        this.#busy.add(worker);
        worker.port.postMessage({ id: job.id, ...job.task });
        this.#expect(worker);
    }

    // Expects the worker to say something soon.
    #expect(worker) {
        clearTimeout(worker.alarm);
        worker.alarm = setTimeout(() => this.#lose(worker, silence(worker)), worker.isReady ? SILENCE_MS : START_MS);
    }

    #worker(isSandboxed) {
        const failed = (message) => this.#lose(worker, readable({ message: message || "the worker did not start" }));
        const worker = isSandboxed ? this.#sandbox.open(failed) : openWorker(this.#script, this.#module, failed);
        Object.assign(worker, { isSandboxed, isReady: false, job: null });
        worker.port.onmessage = ({ data }) => this.#hear(worker, data);
        return worker;
    }

    #hear(worker, data) {
        const { job } = worker;
        const { id, ready, record, done, error, memory } = data ?? {};
        worker.isReady ||= Boolean(ready);
        if (!job) {
            return;
        }
        const most = MOST_AT_ONCE + MOST_PER_SECOND * ((performance.now() - worker.since) / 1000);
        if (++worker.said > most) {
            this.#lose(worker, { message: "the worker said more than a page can hear, and was ended" });
            return;
        }
        // An earlier run may have said something before it heard of this one.
        if (job.id !== id && !ready) {
            return;
        }
        worker.memory = Math.max(worker.memory, Number.isFinite(memory) ? memory : 0);
        if (error !== undefined) {
            this.#release(job);
            job.hear.error(readable(error));
            return;
        }
        this.#expect(worker);
        if (!done) {
            this.#makeRoom();
        }
        const began = performance.now();
        if (worker.job === job && (done || (record && began >= worker.readsFrom))) {
            try {
                job.hear.record(record, done);
            } catch ({ message }) {
                this.#lose(worker, readable({ message: `the record of the run cannot be read, and the run was ended: ${message}` }));
            }
            worker.readsFrom = began + (performance.now() - began) / MAX_SHARE;
        }
        if (done && worker.job === job) {
            this.#release(job);
        }
    }

    // Lets the newest runs begin anew, later and alone, if all together take too much memory.
    #makeRoom() {
        const newest = [...this.#busy].sort((one, other) => other.job.id - one.job.id);
        let sum = newest.reduce((bytes, { memory }) => bytes + memory, 0);
        while (sum > MOST_MEMORY && newest.length > 1) {
            const worker = newest.shift();
            const { job } = worker;
            sum -= worker.memory;
            this.#end(worker);
            job.isLarge = true;
            this.#waiting.push(job);
        }
    }

    // What runs in a worker can change all of it, so one that has loaded controllers is of no use to other runs.
    #release({ worker }) {
        if (worker.isSandboxed || !isReusable(worker)) {
            this.#end(worker);
        } else {
            this.#free(worker);
            this.#idle.push(worker);
        }
        this.#serve();
    }

    #lose(worker, error) {
        const { job } = worker;
        this.#end(worker);
        this.#serve();
        job?.hear.error(error);
    }

    #free(worker) {
        clearTimeout(worker.alarm);
        this.#busy.delete(worker);
        if (worker.job) {
            worker.job = worker.job.worker = null;
        }
    }

    #end(worker) {
        this.#free(worker);
        worker.end();
        this.#idle = this.#idle.filter((other) => other !== worker);
    }
}

function isReusable({ memory }) {
    return memory <= MOST_KEPT;
}

// The controllers of a run.
function sources({ task }) {
    return JSON.stringify(task.controllers ?? {});
}

// A controller can say anything in its worker's place.
function readable(error) {
    const { message, line, where } = error ?? {};
    return {
        message: typeof message === "string" ? oneLine(message) : "the run ended with an error that has no text",
        line: Number.isInteger(line) ? line : null,
        where: isName(where) ? where : undefined,
    };
}

function oneLine(message) {
    return visible(message.slice(0, MAX_MESSAGE)).replace(/\s+/g, " ");
}

function silence({ isReady, job }) {
    if (!isReady) {
        return { message: `the worker did not start within ${START_MS / 1000} seconds` };
    }
    const seconds = SILENCE_MS / 1000;
    const names = Object.keys(job.task.controllers ?? {});
    return names.length === 0
        ? { message: `the run took ${seconds} seconds for a step, and was ended` }
        : { message: `the controller did not return within ${seconds} seconds, and was ended`, line: null, where: names.length === 1 ? names[0] : null };
}
