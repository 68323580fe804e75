// Runs the scenarios in a directory with the module: `node run.mjs MODULE DIRECTORY STEPS`. For `NAME.toml`, writes the record after
// so many steps to `NAME.early` and that of the whole run to `NAME.whole`, or one line to `NAME.error`. For `NAME.advise`, writes the plan
// of the runs for advice to `NAME.plan`, and the advice to `NAME.advice`. For `NAME.full`, begins the run in an instance whose memory is
// used up, and writes its bytes to `NAME.bytes` and the error to `NAME.error`.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { Advising } from "../web/advising.js";
import { Play } from "../web/play.js";

const [file, directory, steps] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
if (WebAssembly.Module.imports(module).some((wanted) => !["controllers", "memory"].includes(wanted.module))) {
    throw new Error("the module needs something of its host that is no controller, and no word for memory that is used up");
}

const controllers = {};
for (const [name, path] of [["Reno", "../web/controllers/reno.js"], ["Fails", "./fails.js"]]) {
    controllers[name] = { made: (await import(path)).default, file: path.slice(path.lastIndexOf("/") + 1) };
}

for (const name of readdirSync(directory).filter((name) => name.endsWith(".toml"))) {
    const to = (end, bytes) => writeFileSync(`${directory}/${name.slice(0, -4)}${end}`, bytes);
    try {
        const play = new Play(module, readFileSync(`${directory}/${name}`, "utf8"), -1n, controllers);
        play.step(Number(steps));
        to("early", play.record());
        while (play.step(100));
        to("whole", play.record());
    } catch ({ message, line }) {
        to("error", line ? `${message} at line ${line}` : message);
    }
}

for (const name of readdirSync(directory).filter((name) => name.endsWith(".advise"))) {
    const advising = new Advising(module, readFileSync(`${directory}/${name}`, "utf8"));
    writeFileSync(`${directory}/${name.slice(0, -6)}plan`, advising.plan);
    JSON.parse(new TextDecoder().decode(advising.plan)).scenarios.forEach((text, place) => {
        const play = new Play(module, text);
        while (play.step(100));
        advising.note(place, play.measured());
    });
    writeFileSync(`${directory}/${name.slice(0, -6)}advice`, advising.answer());
}

for (const name of readdirSync(directory).filter((name) => name.endsWith(".full"))) {
    const to = (end, text) => writeFileSync(`${directory}/${name.slice(0, -4)}${end}`, text);
    let memory;
    const Instance = WebAssembly.Instance;
    WebAssembly.Instance = function (...given) {
        const instance = new Instance(...given);
        ({ memory } = instance.exports);
        return instance;
    };
    const play = new Play(module, readFileSync(`${directory}/${name}`, "utf8"));
    try {
        for (;;) {
            memory.grow(1);
        }
    } catch {
        to("bytes", String(memory.buffer.byteLength));
    }
    try {
        while (play.step(1));
    } catch ({ message }) {
        to("error", message);
    }
}
