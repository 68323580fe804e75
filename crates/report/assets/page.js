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

// Plots for paper are drawn this much larger than they are shown, for its many dots, on a sheet of this width in CSS pixels.
const PAPER = { scale: 2, width: 700 };
let onPaper = false;
const scale = () => (onPaper ? PAPER.scale : 1);
// A length on the screen in pixels of a plot, and in pixels of its canvas.
const px = (length) => length * scale();
const dots = (length) => px(length) * devicePixelRatio;

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
  entry.style.setProperty("--stroke", !dash.length ? "solid" : dash[0] > 4 ? "dashed" : "dotted");
};

const number = (value) =>
  value == null ? "–" : value.toLocaleString("en", { maximumSignificantDigits: value < 1 ? 2 : 4 });

const font = (size = 11) => `${px(size)}px system-ui, sans-serif`;

// What all axes have in common, in the colours of the theme.
const axisStyle = () => {
  const lines = { stroke: css("--grid"), width: px(1) };
  return { stroke: css("--faint"), grid: lines, ticks: { ...lines, size: px(10) }, gap: px(5), font: font() };
};

// A box for a plot, with its title, and a place for the values under the mouse.
const plotBox = (parent, title, unit) => {
  const box = element("section", parent, null, "plot");
  const top = element("div", box, null, "top");
  element("small", element("h2", top, `${title} `), unit);
  return { box, readout: element("div", top, null, "readout") };
};

// How large the plot of a box is. On paper, a box has the share of the width that it has on the screen.
const sizeIn = (box, height) => {
  const width = onPaper ? (PAPER.width * box.clientWidth) / box.parentElement.clientWidth : box.clientWidth;
  return { width: px(width), height: px(height) };
};

// The places of values that are alone between pauses, where no line is: they are drawn as points.
const lonePoints = (plot, series) => {
  const lone = [];
  let [run, last] = [0, -1];
  const end = () => {
    if (run === 1) lone.push(last);
    run = 0;
  };
  plot.data[series].forEach((value, place) => {
    if (value === null) end();
    else if (value !== undefined) [run, last] = [run + 1, place];
  });
  end();
  return lone;
};

// Curves with times of their own as one table: a pause of one reaches across the times of the others (uPlot's NULL_EXPAND).
const together = (tables) => (tables.length > 1 ? uPlot.join(tables, tables.map(() => [0, 2])) : tables[0]);

// A curve of a plot: it is interrupted at a value that is null, and goes on across one that is undefined.
const curveStyle = (stroke, more) => ({
  stroke, ...more, width: px(more.width), dash: more.dash?.map(px), spanGaps: false,
  points: { show: true, size: px(3), filter: lonePoints, fill: stroke, stroke },
});

// A tip at the upper edge for each value above it: the axis ends before it.
const drawCut = (plot) => {
  const { ctx, bbox } = plot;
  const { max } = plot.scales.y;
  const { min: from, max: to } = plot.scales.x;
  ctx.save();
  plot.data.slice(1).forEach((values, place) => {
    ctx.fillStyle = css("--text");
    ctx.globalAlpha = plot.series[place + 1].alpha ?? 1;
    values.forEach((value, index) => {
      const t = plot.data[0][index];
      if (value == null || value <= max || t < from || t > to) return;
      const x = plot.valToPos(t, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x - dots(4), bbox.top + dots(7));
      ctx.lineTo(x + dots(4), bbox.top + dots(7));
      ctx.fill();
    });
  });
  ctx.restore();
};

// A plot in its box, of this height on the screen, with what those are told who do not see it.
const plotIn = (box, height, label, options, columns) => {
  const plot = new uPlot({ ...options, ...sizeIn(box, height) }, columns, box);
  plot.root.setAttribute("role", "img");
  plot.root.setAttribute("aria-label", label);
  new ResizeObserver(() => {
    if (!onPaper && box.isConnected) plot.setSize(sizeIn(box, height));
  }).observe(box);
  return plot;
};

// What all plots over time have in common: seconds below, values at the left, a cursor in step with those of the other plots
// of this key. Dragging calls `zoom` with a part of the time, and a double click without.
const overTime = (key, zoom, left = 52) => {
  const axis = axisStyle();
  return {
    padding: [px(8), px(18), 0, 0],
    legend: { show: false },
    axes: [{ ...axis, size: px(34), space: px(60), values: (_, ticks) => ticks.map((tick) => `${+tick.toFixed(4)} s`) },
           { ...axis, size: px(left), space: px(32), values: (_, ticks) => ticks.map(number) }],
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

// Draws in the colours of the system's theme, and again whenever it or the reader changes the theme, and for paper.
const paintWith = (draw) => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const paint = () => {
    root.dataset.theme = onPaper ? "light" : chosen ?? (system.matches ? "dark" : "light");
    colors.clear();
    draw();
  };
  const print = (is) => () => {
    onPaper = is;
    paint();
  };
  system.addEventListener("change", paint);
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
  document.getElementById("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    paint();
  });
  paint();
};
