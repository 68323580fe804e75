// States of controllers as grounds: each has a colour, a pattern, and a name that is written where there is room.

const KINDS = {
    Startup: { key: "startup", letter: "S", pattern: "rising" },
    SlowStart: { key: "slowStart", letter: "S", pattern: "rising" },
    ConservativeSlowStart: { key: "slowStart", letter: "s", pattern: "rising" },
    Drain: { key: "drain", letter: "D", pattern: "falling" },
    ProbeBW: { key: "probeBw", letter: "B", pattern: "none" },
    ProbeBW_UP: { key: "probeBw", letter: "↑", pattern: "up", name: "UP" },
    ProbeBW_DOWN: { key: "probeBw", letter: "↓", pattern: "down", name: "DOWN" },
    ProbeBW_CRUISE: { key: "probeBw", letter: "–", pattern: "none", name: "CRUISE" },
    ProbeBW_REFILL: { key: "probeBw", letter: "+", pattern: "dots", name: "REFILL" },
    ProbeRTT: { key: "probeRtt", letter: "R", pattern: "upright" },
    CongestionAvoidance: { key: "avoidance", letter: "A", pattern: "none" },
    Recovery: { key: "recovery", letter: "×", pattern: "crossed" },
};

const OTHER = { key: "other", letter: "?", pattern: "none" };

// What a state looks like, with its names from the longest to the shortest.
const made = (name, kind) => ({ name, ...kind, names: [name, kind.name ?? name].map((it) => it.replace("_", " ")).concat(kind.letter) });

const STATES = new Map(Object.entries(KINDS).map(([name, kind]) => [name, made(name, kind)]));

export const stateOf = (name) => STATES.get(name) ?? made(name, OTHER);

const TILE = 8;

// The lines of a tile of each pattern, from point to point.
const LINES = {
    rising: [[0, 8, 8, 0]],
    falling: [[0, 0, 8, 8]],
    upright: [[2, 0, 2, 8], [6, 0, 6, 8]],
    crossed: [[0, 8, 8, 0], [0, 0, 8, 8]],
    up: [[1, 5, 4, 2], [4, 2, 7, 5]],
    down: [[1, 3, 4, 6], [4, 6, 7, 3]],
    dots: [[3.5, 4, 4.5, 4]],
    none: [],
};

// The ground of a state: draws it into a rectangle of a canvas. A ribbon is small, so that its ground is twice as strong.
export class Grounds {
    #patterns = new Map();

    constructor(theme) {
        this.theme = theme;
    }

    fill(canvas, state, [x, y, width, height], isRibbon) {
        canvas.fillStyle = this.theme.states[state.key];
        for (let pass = 0; pass < (isRibbon ? 2 : 1); pass++) {
            canvas.fillRect(x, y, width, height);
        }
        const pattern = this.#pattern(canvas, state.pattern);
        if (pattern && width > 3) {
            canvas.fillStyle = pattern;
            canvas.globalAlpha = isRibbon ? 0.45 : 0.14;
            canvas.fillRect(x, y, width, height);
            canvas.globalAlpha = 1;
        }
    }

    #pattern(canvas, name) {
        if (!LINES[name].length) {
            return null;
        }
        if (!this.#patterns.has(name)) {
            const scale = canvas.getTransform().a;
            const tile = document.createElement("canvas");
            tile.width = tile.height = Math.round(TILE * scale);
            const lines = tile.getContext("2d");
            lines.scale(tile.width / TILE, tile.width / TILE);
            lines.strokeStyle = this.theme.text;
            lines.lineWidth = 1;
            lines.lineCap = "round";
            for (const [fromX, fromY, toX, toY] of LINES[name]) {
                lines.beginPath();
                lines.moveTo(fromX, fromY);
                lines.lineTo(toX, toY);
                lines.stroke();
            }
            const pattern = canvas.createPattern(tile, "repeat");
            pattern.setTransform(new DOMMatrix().scale(1 / scale));
            this.#patterns.set(name, pattern);
        }
        return this.#patterns.get(name);
    }
}
