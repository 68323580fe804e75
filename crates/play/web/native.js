// The simulator of `fullpipe play`, which runs scenarios outside the browser. Each job is a request, and its answer a stream of messages:
// for each, its length and its kind, in 32 bits each, and its bytes.

const WHOLE = 1, ERROR = 2;

// Whether the page came from `fullpipe play`.
export function isNative() {
    return document.querySelector('meta[name="fullpipe-engine"]')?.content === "native";
}

export class Native {
    // Starts a run in place of `before`, a run that may be over. It waits there for a processor.
    start({ text, seed }, hear, before) {
        this.cancel(before);
        return request(seed < 0n ? "run" : `run?seed=${seed}`, text, hear);
    }

    // Ends a run, if it is not over: the program ends it when the connection does.
    cancel(job) {
        job?.abort();
    }

    // Resolves to the error of a scenario, or null.
    check({ text }) {
        return new Promise((resolve) => {
            request("check", text, { record: () => resolve(null), error: resolve });
        });
    }

    // Resolves to advice for the path of a scenario.
    advise(text, { signal, progress }) {
        return new Promise((resolve, reject) => {
            const record = (bytes, done) => (done ? resolve : progress)(JSON.parse(new TextDecoder().decode(bytes)));
            const job = request("advise", text, { record, error: ({ message }) => reject(new Error(message)) });
            signal.addEventListener("abort", () => {
                this.cancel(job);
                reject(signal.reason);
            });
        });
    }
}

function request(path, text, hear) {
    const aborter = new AbortController();
    listen(path, text, hear, aborter.signal).catch((error) => {
        if (!aborter.signal.aborted) {
            hear.error({ message: error.message });
        }
    });
    return aborter;
}

async function listen(path, text, hear, signal) {
    const answer = await fetch(new URL(path, import.meta.url), { method: "POST", body: text, signal }).catch((error) => {
        throw new Error(`fullpipe play does not answer: ${error.message}`);
    });
    if (!answer.ok) {
        throw new Error((await answer.text()).trim());
    }
    const stream = new Stream(answer.body.getReader());
    for (;;) {
        const [length, kind] = new Uint32Array((await stream.take(8)).buffer);
        const bytes = await stream.take(length);
        if (signal.aborted) {
            return;
        }
        if (kind === ERROR) {
            throw new Error(new TextDecoder().decode(bytes));
        }
        hear.record(bytes, kind === WHOLE);
        if (kind === WHOLE) {
            return;
        }
    }
}

// Bytes in parts of the length that is wanted.
class Stream {
    #reader;
    #chunk = new Uint8Array(0);

    constructor(reader) {
        this.#reader = reader;
    }

    // The next bytes, in a buffer of their own.
    async take(length) {
        const bytes = new Uint8Array(length);
        for (let filled = 0; filled < length; ) {
            if (this.#chunk.length === 0) {
                const { value, done } = await this.#reader.read().catch(() => {
                    throw new Error("fullpipe play has ended, or has closed the connection");
                });
                if (done) {
                    throw new Error("fullpipe play broke off its answer");
                }
                this.#chunk = value;
            }
            const part = this.#chunk.subarray(0, length - filled);
            bytes.set(part, filled);
            filled += part.length;
            this.#chunk = this.#chunk.subarray(part.length);
        }
        return bytes;
    }
}
