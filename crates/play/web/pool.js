// Workers that run scenarios beside the page. Each has one run at a time.

import { loadModule, openWorker } from "./parts.js";

// A worker that says nothing for so long is ended: it says something several times a second.
const SILENCE_MS = 3000;

export class Pool {
    #module;
    #idle = [];
    #waiting = [];
    #count = 0;
    #most = Math.max(2, navigator.hardwareConcurrency ?? 2);
    #next = 0;

    // Loads the module, and starts the first worker.
    static async open() {
        const pool = new Pool();
        pool.#module = await loadModule();
        pool.#idle.push(pool.#worker());
        return pool;
    }

    // Starts a run, or lets it wait for a worker. It takes the place of `before`, a run that may be over.
    start(task, hear, before) {
        const job = { id: ++this.#next, task, hear, worker: null };
        if (before?.worker) {
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
        const worker = openWorker();
        this.#count += 1;
        worker.onmessage = ({ data }) => this.#hear(worker, data);
        worker.onerror = (event) => this.#lose(worker, { message: event.message || "the worker did not start" });
        worker.postMessage({ module: this.#module });
        return worker;
    }

    #hear(worker, { id, record, done, error }) {
        const { job } = worker;
        // An earlier run may have said something before it heard of this one.
        if (job?.id !== id) {
            return;
        }
        if (error !== undefined || done) {
            this.#release(job);
        } else {
            this.#expect(worker);
        }
        if (error !== undefined) {
            job.hear.error(error);
        } else if (record || done) {
            job.hear.record(record, done);
        }
    }

    #release(job) {
        const { worker } = job;
        clearTimeout(worker.alarm);
        worker.job = job.worker = null;
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
        worker.terminate();
        this.#count -= 1;
        this.#idle = this.#idle.filter((other) => other !== worker);
        const { job } = worker;
        if (job) {
            worker.job = job.worker = null;
            job.hear.error(error);
        }
        const next = this.#waiting.shift();
        if (next) {
            next.worker = this.#worker();
            this.#send(next);
        }
    }
}

function silence(job) {
    const seconds = SILENCE_MS / 1000;
    const names = Object.keys(job.task.controllers ?? {});
    return names.length === 0
        ? { message: `the run took ${seconds} seconds for a step, and was ended` }
        : { message: `the controller did not return within ${seconds} seconds, and was ended`, line: null, where: names.length === 1 ? names[0] : null };
}
