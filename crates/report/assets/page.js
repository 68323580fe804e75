"use strict";
// What the scripts of all pages have in common.
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;

// A colour of the page as a canvas takes it: a custom property alone would still name both themes' colours.
const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);
const colors = new Map();
const css = (name) => {
  if (!colors.has(name)) {
    probe.style.color = `var(${name})`;
    colors.set(name, getComputedStyle(probe).color);
  }
  return colors.get(name);
};

// The look of the curve at this place: when the colours have all been used, they come again with dashes.
const DASHES = [[], [8, 4], [2, 3]];
const look = (place) => ({ color: `--lane${place % COLORS}`, dash: DASHES[Math.floor(place / COLORS) % DASHES.length] });

const element = (tag, parent, text, className) => {
  const made = document.createElement(tag);
  if (text != null) made.textContent = text;
  if (className) made.className = className;
  parent?.append(made);
  return made;
};

// The swatch of a curve's name in the legend.
const swatch = (entry, { color, dash }) => {
  entry.style.setProperty("--swatch", `var(${color})`);
  if (dash.length) entry.style.setProperty("--stroke", dash[0] > 4 ? "dashed" : "dotted");
};

const number = (value) =>
  value == null ? "–" : value.toLocaleString("en", { maximumSignificantDigits: value < 1 ? 2 : 4 });

// What all axes have in common, in the colours of the theme.
const axisStyle = () => {
  const lines = { stroke: css("--grid"), width: 1 };
  return { stroke: css("--faint"), grid: lines, ticks: lines, font: "11px system-ui, sans-serif" };
};

// A box for a plot, with its title, and a place for the values under the mouse.
const plotBox = (parent, title, unit) => {
  const box = element("section", parent, null, "plot");
  const top = element("div", box, null, "top");
  element("small", element("h2", top, `${title} `), unit);
  return { box, readout: element("div", top, null, "readout") };
};

// What all plots over time have in common: seconds below, values at the left, a cursor in step with those of the other plots
// of this key. Dragging calls `zoom` with a part of the time, and a double click without.
const overTime = (key, zoom) => {
  const axis = axisStyle();
  return {
    padding: [8, 18, 0, 0],
    legend: { show: false },
    axes: [{ ...axis, size: 34, values: (_, ticks) => ticks.map((tick) => `${+tick.toFixed(4)} s`) },
           { ...axis, size: 52, values: (_, ticks) => ticks.map(number) }],
    cursor: {
      y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: false },
      sync: { key, scales: ["x", null] },
      bind: { dblclick: () => () => zoom() },
    },
    hooks: {
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        // Plots in step with the one under the mouse get its selection too, but not the mouse's event.
        if (plot.cursor.event && width >= 3) zoom(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
      }],
    },
  };
};

// Draws in the colours of the system's theme, and again whenever it or the reader changes the theme.
const paintWith = (draw) => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const paint = () => {
    root.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    colors.clear();
    draw();
  };
  system.addEventListener("change", paint);
  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    paint();
  });
  paint();
};
