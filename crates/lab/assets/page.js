"use strict";
// What the scripts of all pages have in common.
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();

// The look of the curve at this place: when the colours have all been used, they come again with dashes.
const COLORS = 6;
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

// Draws in the colours of the system's theme, and again whenever it or the reader changes the theme.
const paintWith = (draw) => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const paint = () => {
    root.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    draw();
  };
  system.addEventListener("change", paint);
  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    paint();
  });
  paint();
};
