// The page: joins the state, the runs, and what shows them.

import { Advice } from "./advice.js";
import { context } from "./context.js";
import { Panel } from "./controls/panel.js";
import { warmup } from "./controls/run.js";
import { showLink } from "./dialog.js";
import { element } from "./dom.js";
import { Downloads } from "./downloads.js";
import { OwnEditor } from "./editor/own.js";
import { Race } from "./editor/race.js";
import { ScenarioEditor } from "./editor/scenario.js";
import { openEngine } from "./engine.js";
import { OWN_CONTROLLER, flows } from "./flows.js";
import { Numbers } from "./numbers.js";
import { Player } from "./player.js";
import { preset, presets } from "./presets.js";
import { Runs } from "./runs.js";
import { fragment, fromFragment } from "./share.js";
import { described } from "./state/document.js";
import { shown } from "./state/quantity.js";
import { State } from "./state/state.js";
import { ask, leaveOut } from "./stranger.js";
import { Theme } from "./theme.js";
import { Tour } from "./tour.js";
import { Views } from "./views/index.js";

const $ = (id) => document.getElementById(id);
const state = new State();
const theme = new Theme($("theme"));

// The preset whose sentences are shown, also after a change of its text.
let told = null;

// What is wrong with a link stays until the state changes; what is wrong with a text, until a run of it has a record.
let isOfLink = false;

async function begin() {
    await take(location.hash);
    let engine;
    try {
        engine = await openEngine();
    } catch (error) {
        problem({ message: `The simulator does not start: ${error.message}`, line: null });
        return;
    }
    join(engine);
}

function join(engine) {
    document.querySelector("main").hidden = false;
    const runs = new Runs(engine);
    const panel = new Panel($("controls"), state, () => theme.name);
    const scenario = new ScenarioEditor($("text"), state);
    const race = new Race($("race"), state, engine);
    const own = new OwnEditor($("own"), state, engine, (name) => race.run(name));
    new Advice($("advise"), state, engine);
    const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const views = new Views($("views"), { theme: theme.name, reducedMotion });
    const player = new Player($("player"));
    player.addEventListener("time", ({ detail }) => views.at(detail.time_ms));
    views.addEventListener("time", ({ detail }) => {
        player.pause();
        player.at(detail.time_ms);
    });
    const numbers = new Numbers($("numbers"), $("links"));
    const downloads = new Downloads($("downloads"), state, { record: () => runs.records[0], png: () => views.png() });
    const tour = new Tour($("tour"), (text) => {
        const name = presets.find((it) => it.text === text)?.name ?? null;
        state.change({ text, seeds: 1, preset: name });
        told = null;
        about();
        look();
        if (!reducedMotion) {
            player.start();
        }
    });

    // Looks at a scenario as one does at first.
    let looked;
    const look = () => {
        looked = state.preset;
        views.span((looked && preset(looked).span_ms) ?? null);
        player.rest();
    };
    const show = () => {
        const ours = flows(state.text, theme.name);
        const [record] = runs.records;
        if (record) {
            const around = context(state.text, record, ours);
            views.show(record, around);
            player.extent(around.duration_ms, around.until_ms);
            views.draw();
        }
        numbers.show(runs.records, ours, warmup(state.text));
        downloads.update();
        $("results").dataset.shown = String(runs.isHeard);
    };
    // Many records come while a run goes on: the last one of a frame is shown.
    const soon = oncePerFrame(() => {
        try {
            show();
        } catch ({ message }) {
            // A controller can forge its record.
            runs.records.length = 0;
            problem({ message: `the record of the run cannot be shown: ${message}`, line: null });
        }
        if (runs.isHeard && runs.done === runs.seeds) {
            $("results").dataset.done = "true";
        }
    });
    runs.addEventListener("record", ({ detail }) => {
        if (!isOfLink) {
            problem(null);
        }
        scenario.code.problem(null);
        panel.problem(null);
        own.problem(null);
        soon(detail.done);
        if (detail.done && runs.done === runs.seeds) {
            const seeds = runs.seeds === 1 ? "" : `, ${runs.seeds} seeds`;
            $("status").textContent = `Simulated in ${Math.round(runs.tookMs)} ms${seeds}`;
        }
    });
    runs.addEventListener("problem", ({ detail }) => {
        const { until_s } = detail;
        $("status").textContent = until_s === null ? "" : `Broke off at ${shown("time", until_s)}: the numbers are those until then`;
        $("results").dataset.done = "failed";
        const isOwn = detail.where === OWN_CONTROLLER;
        isOwn ? own.problem(detail) : scenario.code.problem(detail);
        panel.problem(isOwn ? null : detail);
        problem(detail, isOwn ? "own" : "text");
    });
    state.addEventListener("change", () => {
        $("results").dataset.done = $("results").dataset.shown = "false";
        // At once, and not with the next frame: the run goes on while this one is drawn.
        runs.start(state);
        isOfLink = false;
        address();
        about();
        if (state.preset !== null && state.preset !== looked) {
            look();
        }
    });
    state.addEventListener("goal", address);
    addEventListener("beforeprint", () => ($("sheet").textContent = described(state.text)));
    theme.addEventListener("change", () => {
        views.theme(theme.name);
        panel.update();
        show();
    });
    // On a phone, the pictures scroll within their own place.
    const pictures = $("views");
    pictures.append($("more"));
    pictures.addEventListener("scroll", () => ($("more").hidden = pictures.scrollTop > 0), { passive: true });
    $("more").addEventListener("click", () => {
        pictures.scrollBy({ top: pictures.clientHeight * 0.8, behavior: reducedMotion ? "instant" : "smooth" });
        pictures.focus({ preventScroll: true });
    });
    $("start-tour").addEventListener("click", () => tour.open());
    $("share").addEventListener("click", async () => {
        // The address of a page that the program serves has a secret, and one from a disk leads others nowhere.
        const isLocal = engine.kind === "native" || location.protocol === "file:";
        showLink((isLocal ? "" : location.origin + location.pathname) + (await fragment(state)), isLocal);
    });
    if (engine.kind === "native") {
        $("where").textContent = "Every packet is simulated, by fullpipe on this machine.";
    }
    about();
    look();
    runs.start(state);
}

// Takes the state of a link, unless there is a newer one by then. A controller that it brings runs only if the user says so.
let links = 0, newest = 0;
async function take(hash) {
    const own = ++links;
    let found;
    try {
        found = await fromFragment(hash);
    } catch ({ message }) {
        problem({ message, line: null });
        isOfLink = true;
        return;
    }
    if (!found || own < newest) {
        return;
    }
    newest = own;
    leaveOut();
    if (found.source !== null && found.source !== state.source && !(await ask($("stranger"), found.source))) {
        found.source = null;
    }
    if (own < newest) {
        return;
    }
    told = null;
    state.change(found);
}

// The address always has the state, so that it can be copied and reloaded. Browsers refuse to write it many times a second.
const ADDRESS_MS = 400;
let written = location.hash;
let writing;
function address() {
    clearTimeout(writing);
    writing = setTimeout(async () => {
        written = await fragment(state);
        history.replaceState(null, "", written);
    }, ADDRESS_MS);
}

function choosePreset() {
    const groups = Map.groupBy(presets, (it) => it.group);
    for (const [label, own] of groups) {
        $("preset").append(element("optgroup", { label }, ...own.map(({ name, title }) => element("option", { value: name }, title))));
    }
    $("preset").append(element("option", { value: "", hidden: true }, "Your own"));
    $("preset").addEventListener("change", () => {
        const { text, name } = preset($("preset").value);
        state.change({ text, preset: name });
    });
}

function about() {
    $("preset").value = state.preset ?? "";
    told = state.preset ?? told;
    const of = told === null ? null : preset(told);
    $("about").textContent = of === null ? "" : state.preset ? of.about : `Changed from “${of.title}”: ${of.about}`;
}

function problem(found, panel) {
    $("problem").hidden = !found;
    $("results").classList.toggle("stale", Boolean(found));
    if (!found) {
        return;
    }
    const { message, line } = found;
    const go = panel && element("a", { href: `#${panel}`, on: { click: (event) => (event.preventDefault(), open(panel)) } }, "show");
    $("problem").replaceChildren(line === null ? message : `Line ${line}: ${message} `, ...(go ? [" ", go] : []));
}

function open(panel) {
    $(panel).open = true;
    $(panel).querySelector("textarea")?.focus();
}

// What takes longer than this is followed by a rest as long: a page that only draws hears nobody. The last of a run does not wait.
const LONG_MS = 100;

function oncePerFrame(call) {
    let isAsked = false, later, took = 0;
    const ask = () => {
        isAsked = true;
        clearTimeout(later);
        later = undefined;
        requestAnimationFrame(() => {
            isAsked = false;
            const began = performance.now();
            call();
            took = performance.now() - began;
        });
    };
    return (isLast) => {
        if (!isAsked && (isLast || took <= LONG_MS)) {
            ask();
        } else if (!isAsked) {
            later ??= setTimeout(ask, took);
        }
    };
}

choosePreset();
addEventListener("hashchange", () => location.hash !== written && take(location.hash));
await begin();
