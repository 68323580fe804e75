// Workers that run scenarios beside the page. Each has one run at a time.

import { gather } from "./gather.js";
import { loadModule, loadScript, openWorker } from "./parts.js";

// A worker that says nothing for so long is ended: it says something several times a second.
const SILENCE_MS = 3000;
// The most characters of an error.
const MAX_MESSAGE = 500;
const NO_SOURCES = "{}";

export class Pool {
    #module;
    #script;
    #idle = [];
    #waiting = [];
    #count = 0;
    #most = Math.max(2, navigator.hardwareConcurrency ?? 2);
    #next = 0;

    // Loads the module and the script, and starts the first worker.
    static async open() {
        const pool = new Pool();
        [pool.#module, pool.#script] = await Promise.all([loadModule(), loadScript()]);
        pool.#idle.push(pool.#worker());
        return pool;
    }

    // Starts a run, or lets it wait for a worker. It takes the place of `before`, a run that may be over.
    start(task, hear, before) {
        const job = { id: ++this.#next, task, hear, worker: null };
        if (before?.worker && sources(before) === sources(job)) {
            job.worker = before.worker;
            before.worker = null;
            this.#send(job);
            return job;
        }
        this.cancel(before);
        const worker = this.#idle.pop() ?? (this.#count < this.#most ? this.#worker() : null);
        if (worker) {
            job.worker = worker;
            this.#send(job);
        } else {
            this.#waiting.push(job);
        }
        return job;
    }

    // Ends a run, if it is not over.
    cancel(job) {
        this.#waiting = this.#waiting.filter((other) => other !== job);
        if (job?.worker) {
            job.worker.postMessage({ id: null });
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

    #send(job) {
        const { worker } = job;
        worker.job = job;
        worker.postMessage({ id: job.id, ...job.task });
        this.#expect(worker);
    }

    // Expects the worker to say something soon.
    #expect(worker) {
        clearTimeout(worker.alarm);
        worker.alarm = setTimeout(() => this.#lose(worker, silence(worker.job)), SILENCE_MS);
    }

    #worker() {
        const worker = openWorker(this.#script);
        this.#count += 1;
        worker.onmessage = ({ data }) => this.#hear(worker, data);
        worker.onerror = (event) => this.#lose(worker, readable({ message: event.message || "the worker did not start" }));
        worker.postMessage({ module: this.#module });
        return worker;
    }

    #hear(worker, data) {
        const { job } = worker;
        const { id, record, done, error } = data ?? {};
        // An earlier run may have said something before it heard of this one.
        if (!job || job.id !== id) {
            return;
        }
        if (error !== undefined) {
            this.#release(job);
            job.hear.error(readable(error));
            return;
        }
        this.#expect(worker);
        if (record || done) {
            try {
                job.hear.record(record, done);
            } catch ({ message }) {
                this.#lose(worker, readable({ message: `the record of the run cannot be read, and the run was ended: ${message}` }));
            }
        }
        if (done && worker.job === job) {
            this.#release(job);
        }
    }

    #release(job) {
        const { worker } = job;
        clearTimeout(worker.alarm);
        worker.job = job.worker = null;
        if (sources(job) !== NO_SOURCES) {
            this.#end(worker);
            return;
        }
        const next = this.#waiting.shift();
        if (next) {
            next.worker = worker;
            this.#send(next);
        } else {
            this.#idle.push(worker);
        }
    }

    #lose(worker, error) {
        clearTimeout(worker.alarm);
        const { job } = worker;
        if (job) {
            worker.job = job.worker = null;
        }
        this.#end(worker);
        job?.hear.error(error);
    }

    // Ends a worker, and starts one for a run that waits.
    #end(worker) {
        worker.terminate();
        this.#count -= 1;
        this.#idle = this.#idle.filter((other) => other !== worker);
        const next = this.#waiting.shift();
        if (next) {
            next.worker = this.#worker();
            this.#send(next);
        }
    }
}

// The controllers of a run. What runs in a worker can change all of it, so a worker that has loaded controllers is of no use to other runs.
function sources({ task }) {
    return JSON.stringify(task.controllers ?? {});
}

// A controller can say anything in its worker's place.
function readable(error) {
    const { message, line, where } = error ?? {};
    return {
        message: typeof message === "string" ? message.slice(0, MAX_MESSAGE) : "the run ended with an error that has no text",
        line: Number.isInteger(line) ? line : null,
        where: typeof where === "string" ? where : undefined,
    };
}

function silence(job) {
    const seconds = SILENCE_MS / 1000;
    const names = Object.keys(job.task.controllers ?? {});
    return names.length === 0
        ? { message: `the run took ${seconds} seconds for a step, and was ended` }
        : { message: `the controller did not return within ${seconds} seconds, and was ended`, line: null, where: names.length === 1 ? names[0] : null };
}
