// Runs the scenarios in a directory with the module: `node run.mjs MODULE DIRECTORY STEPS`. For `NAME.toml`, writes the record after
// so many steps to `NAME.early` and that of the whole run to `NAME.whole`, or one line to `NAME.error`. For `NAME.advise`, writes the plan
// of the runs for advice to `NAME.plan`, and the advice to `NAME.advice`.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { Advising } from "../web/advising.js";
import { Play } from "../web/play.js";

const [file, directory, steps] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
if (WebAssembly.Module.imports(module).some((wanted) => wanted.module !== "controllers")) {
    throw new Error("the module needs something of its host that is no controller");
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
