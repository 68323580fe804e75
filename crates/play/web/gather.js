// Advice from the simulator in workers: a plan, its runs in as many workers as there are, and the answer.

// Resolves to the answer of `Advising` for the scenario with this text. `progress` hears { about, done, of }. Rejects with an Error for
// people, or with the reason of `signal`.
export async function gather(pool, text, { signal, progress }) {
    const ask = async (task) => asked(pool, task, signal);
    const { about, scenarios } = parsed(await ask({ text, only: "plan" }));
    const measured = new Array(scenarios.length).fill(null);
    let next = 0;
    let done = 0;
    const work = async () => {
        while (next < scenarios.length) {
            const place = next++;
            // As in the program, a run that fails takes its path out of the comparison.
            measured[place] = await ask({ text: scenarios[place], only: "measure" }).catch(() => null);
            signal.throwIfAborted();
            done += 1;
            progress({ about, done, of: scenarios.length });
        }
    };
    await Promise.all(Array.from({ length: pool.width }, work));
    return parsed(await ask({ text, only: "advise", measured }));
}

function asked(pool, task, signal) {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
        const abort = () => {
            pool.cancel(job);
            reject(signal.reason);
        };
        const end = (settle) => (value) => {
            signal.removeEventListener("abort", abort);
            settle(value);
        };
        const job = pool.start({ seed: -1n, ...task }, { record: end(resolve), error: end(({ message }) => reject(new Error(message))) });
        signal.addEventListener("abort", abort);
    });
}

function parsed(bytes) {
    return JSON.parse(new TextDecoder().decode(bytes));
}
