"use strict";
(() => {
  const main = document.getElementById("plots");
  const { axes, groups, metrics } = data;
  const control = (id) => document.getElementById(id);

  // What each axis is for: one is across, one has the colours, one a plot for each value; of the others one value is shown.
  const role = { x: data.x, color: null, panel: null };
  // The values of each axis that are shown.
  let shown = [];
  let metric = Math.max(0, metrics.findIndex((each) => each.name === data.y));
  let isLog = false;
  let plots = [];

  const digits = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  // A value with the unit that the metric's name ends with.
  const text = (value) => {
    if (value == null) return "–";
    const name = data.metrics[metric].name;
    if (/(_share|utilization)$/.test(name)) return `${digits(value * 100)} %`;
    if (name.endsWith("_bps")) {
      const [scale, unit] = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"]].find(([scale]) => value >= scale) ?? [1, "bit/s"];
      return `${digits(value / scale)} ${unit}`;
    }
    if (name.endsWith("_ms")) return value >= 1000 ? `${digits(value / 1000)} s` : `${digits(value)} ms`;
    if (name.endsWith("_s")) return `${digits(value)} s`;
    return digits(value);
  };

  // The axes that may have this role beside the one across: those that have several values.
  const others = () => axes.map((_, axis) => axis).filter((axis) => axis !== role.x && axes[axis].labels.length > 1);

  // Colours for what is compared, which the last axis mostly is; panels for the axis with the most values of the others.
  const choose = () => {
    const rest = others();
    if (!rest.includes(role.color)) role.color = rest.filter((axis) => axis !== role.panel).pop() ?? null;
    if (!rest.includes(role.panel) || role.panel === role.color) {
      const free = rest.filter((axis) => axis !== role.color);
      role.panel = free.sort((a, b) => axes[b].labels.length - axes[a].labels.length)[0] ?? null;
    }
  };
  const hasAll = (axis) => axis === role.x || axis === role.color || axis === role.panel;
  const showAll = () => {
    shown = axes.map(({ labels }, axis) => new Set(hasAll(axis) ? labels.keys() : [0]));
  };

  const isShown = (group) => group.values.every((value, axis) => axis === role.x || value == null || shown[axis].has(value));
  // The place of a group's value on an axis that may not be there.
  const valueOf = (group, axis) => (axis == null ? 0 : group.values[axis]);

  // The look of a value on the axis that has the colours.
  const lookOf = (value) => look(axes[role.color]?.colors[value ?? 0] ?? 0);

  // The lines of a panel: for each colour, median, smallest and largest value at each place across.
  const linesOf = (panel) => {
    const lines = new Map();
    for (const group of groups) {
      if (!isShown(group) || (role.panel != null && valueOf(group, role.panel) !== panel)) continue;
      const color = valueOf(group, role.color);
      if (!lines.has(color)) lines.set(color, axes[role.x].labels.map(() => null));
      lines.get(color)[group.values[role.x]] = group.metrics[metric];
    }
    return [...lines].sort(([a], [b]) => a - b).map(([color, values]) => ({
      ...lookOf(color), values, name: role.color == null ? "" : axes[role.color].labels[color],
    }));
  };

  // What a log scale cannot show is left out.
  const drawable = (value) => (value == null || (isLog && value <= 0) ? null : value);

  const makePlot = (title, lines, low, high) => {
    const { field, scale } = axes[role.x];
    // Curves run from the smallest x to the largest, whatever the order of the sweep.
    const order = [...axes[role.x].places.keys()].sort((a, b) => axes[role.x].places[a] - axes[role.x].places[b]);
    const places = order.map((index) => axes[role.x].places[index]);
    const labels = order.map((index) => axes[role.x].labels[index]);
    const { box, readout } = plotBox(main, title, "");
    const columns = lines.flatMap(({ values }) =>
      [0, 1, 2].map((part) => order.map((index) => drawable(values[index]?.[part]))));
    const axis = axisStyle();
    const margin = places.length > 1 ? (places[places.length - 1] - places[0]) * 0.02 : 1;
    const xRange = scale === "log"
      ? [places[0] / 1.15, places[places.length - 1] * 1.15]
      : [places[0] - margin, places[places.length - 1] + margin];
    const edge = { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
    const series = lines.flatMap(({ color, dash }) => [
      { ...curveStyle(css(color), { width: 2, dash }), spanGaps: true, points: { show: true, size: px(6), fill: css(color) } }, edge, edge,
    ]);
    const bands = lines.map(({ color }, index) => ({
      series: [3 * index + 3, 3 * index + 2], fill: `color-mix(in srgb, ${css(color)} 20%, transparent)`,
    }));
    const about = `${metrics[metric].title} over ${field}, ${title}: ${lines.map((line) => line.name).join(", ")}`;
    const plot = plotIn(box, role.panel == null ? 420 : 250, about, {
      padding: [px(12), px(24), 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: scale === "log" ? 3 : 1, range: () => xRange },
        y: isLog ? { distr: 3, range: () => [low / 1.2, high * 1.2] } : { range: () => [0, high * 1.06 || 1] },
      },
      series: [{}, ...series], bands,
      axes: [
        { ...axis, size: px(50), label: field, labelFont: font(12), labelSize: px(18),
          splits: () => places,
          // Of a log scale, uPlot would label the powers of ten alone.
          filter: (_, splits) => splits,
          // A label for each value, as the sweep writes it, where there is room for it.
          values: (plot, splits) => {
            let end = -Infinity;
            return splits.map((place, index) => {
              const middle = plot.valToPos(place, "x");
              const half = px(3.5) * labels[index].length;
              if (middle - half < end + px(6)) return "";
              end = middle + half;
              return labels[index];
            });
          } },
        { ...axis, size: px(78), space: px(32), values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : text(tick))) },
      ],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 }, sync: { key: "sweep", scales: ["x", null] } },
      hooks: {
        setCursor: [(plot) => {
          readout.replaceChildren();
          const index = plot.cursor.idx;
          if (index == null || plot.cursor.left < 0) return;
          element("b", readout, `${field} ${labels[index]}`);
          lines.forEach((line, place) => {
            const [middle, min, max] = [1, 2, 3].map((part) => plot.data[3 * place + part][index]);
            readout.append(` · ${line.name} `);
            element("b", readout, text(middle)).style.color = css(line.color);
            if (min !== max) readout.append(` (${text(min)}–${text(max)})`);
          });
        }],
      },
    }, [places, ...columns]);
    plots.push({ plot });
  };

  const build = () => {
    for (const { plot } of plots) plot.destroy();
    plots = [];
    main.replaceChildren();
    main.classList.toggle("small", role.panel != null);
    const title = metrics[metric].title;
    const panels = role.panel == null ? [[title, linesOf(0)]]
      : [...shown[role.panel]].sort((a, b) => a - b)
        .map((value) => [`${axes[role.panel].field} ${axes[role.panel].labels[value]}`, linesOf(value)]);
    // All panels have the same scale: they are there to be compared.
    const all = panels.flatMap(([, lines]) => lines.flatMap(({ values }) => values.flatMap((value) => value ?? [])))
      .filter((value) => drawable(value) != null);
    const [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [0.1, 1];
    for (const [title, lines] of panels) makePlot(title, lines, low, high);
    document.querySelectorAll("tbody tr").forEach((row, index) => {
      const group = groups[index];
      if (!group) return;
      row.hidden = !isShown(group);
      // Each row has the look of the line that it is a point of, beside what the colours are for.
      const colored = axes[role.color]?.column ?? 0;
      [...row.children].forEach((cell, column) => cell.classList.toggle("swatch", column === colored));
      swatch(row.children[colored], lookOf(valueOf(group, role.color)));
    });
  };

  // A button for each value of each axis but the one across.
  const buildFilters = () => {
    const filters = control("filters");
    filters.replaceChildren();
    for (const axis of others()) {
      const { field, labels } = axes[axis];
      element("span", filters, field);
      const values = element("div", filters, null, hasAll(axis) ? "values" : "values one");
      values.setAttribute("role", "group");
      values.setAttribute("aria-label", field);
      const buttons = labels.map((label, value) => {
        const button = element("button", values, label, axis === role.color ? "stroke" : "");
        button.type = "button";
        if (axis === role.color) swatch(button, lookOf(value));
        button.addEventListener("click", () => {
          if (!hasAll(axis)) shown[axis] = new Set([value]);
          else if (!shown[axis].delete(value)) shown[axis].add(value);
          press();
          build();
        });
        return button;
      });
      const press = () => buttons.forEach((button, value) => button.setAttribute("aria-pressed", shown[axis].has(value)));
      press();
    }
  };

  const fill = (id, entries, chosen, take) => {
    const select = control(id);
    select.replaceChildren();
    for (const [value, label] of entries) {
      const option = element("option", select, label);
      option.value = value;
      option.selected = value === chosen;
    }
    select.closest("label").hidden = entries.length < 2;
    select.onchange = () => take(Number(select.value));
  };
  const NONE = -1;
  const buildRoles = () => {
    const named = (list) => list.map((axis) => [axis, axes[axis].field]);
    const take = (which) => (axis) => {
      const before = role[which];
      role[which] = axis === NONE ? null : axis;
      // Two roles change places if one takes what the other had.
      for (const other of ["x", "color", "panel"]) {
        if (other !== which && axis !== NONE && role[other] === axis) role[other] = before;
      }
      if (which === "x") choose();
      restart();
    };
    fill("x", named(axes.map((_, axis) => axis).filter((axis) => axes[axis].labels.length > 1)), role.x, take("x"));
    fill("color", [...(role.panel == null ? [] : [[NONE, "nothing"]]), ...named(others())], role.color ?? NONE, take("color"));
    fill("panel", [[NONE, "nothing"], ...named(others())], role.panel ?? NONE, take("panel"));
  };
  const restart = () => {
    showAll();
    buildRoles();
    buildFilters();
    build();
  };

  fill("metric", metrics.map((each, index) => [index, each.title]), metric, (value) => {
    metric = value;
    build();
  });
  control("log").addEventListener("click", () => {
    isLog = !isLog;
    control("log").setAttribute("aria-pressed", isLog);
    build();
  });
  if (!metrics.length || !axes.length) {
    document.querySelector("nav").hidden = true;
    paintWith(() => {});
    return;
  }
  choose();
  showAll();
  buildRoles();
  buildFilters();
  paintWith(build);
})();
