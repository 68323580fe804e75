"use strict";
(() => {
  const main = document.getElementById("plots");

  const stateColor = (stay) => css(`--state-${stay.color}`);

  // A row of plots: what is drawn of a lane, and its lines for reference.
  const ROWS = [
    // Of a crowd only: what the flows of each controller delivered together.
    ...(data.is_crowd ? [{ title: "Throughput", unit: "Mbit/s · sum by controller", isOfAll: true,
                           references: (path) => [[path.rate, "bottleneck"]] }] : []),
    { title: "Delivery rate", unit: "Mbit/s", curves: [["rate", ""], ["btlbw", "BtlBw"], ["short_bw", "short-term bound"]],
      references: (path) => [[path.rate, "bottleneck"]] },
    { title: "RTT", unit: "ms", curves: [["rtt", ""]], references: (path) => [[path.rtprop, "RTprop"]] },
    { title: "Inflight", unit: "kB", curves: [["inflight", ""], ["long_inflight", "long-term bound"], ["short_inflight", "short-term bound"]],
      references: (path) => [[path.bdp, "BDP"]] },
    { title: "Congestion window", unit: "kB", curves: [["cwnd", ""]], references: (path) => [[path.bdp, "BDP"]] },
    { title: data.paths.some((path) => path.queues.length > 1) ? "Queues at the bottlenecks" : "Queue at the bottleneck", unit: "kB",
      isOfPath: true, references: (path) => [[path.bdp, "BDP"]] },
  ];

  const lanes = data.lanes;
  let plots = [];
  let zoom = [0, data.end];
  let layout = data.is_crowd || lanes.length > 3 ? "overlay" : "columns";

  // The values of a lane as a plot takes them: null where the curve pauses, undefined where it goes on across.
  const joined = (lane, values) => {
    const pauses = new Set(lane.pauses);
    return values.map((value, place) => value ?? (pauses.has(place) ? null : undefined));
  };
  for (const lane of lanes) for (const { curves } of ROWS) for (const [key] of curves ?? []) lane[key] = joined(lane, lane[key]);

  const crowdName = (lane) => data.totals.find((total) => total.color === lane.color).name;

  // The curves of one plot: for each of its lanes those of the row, or the queue of the lanes' paths.
  const curvesOf = (row, shown) => {
    const several = shown.length > 1;
    if (row.isOfAll) {
      return data.totals.map(({ name, color, t, rate }) => ({ color, t, values: rate, label: name }));
    }
    if (row.isOfPath) {
      return [...new Set(shown.map((lane) => lane.path))].flatMap((path) => {
        const users = lanes.filter((lane) => lane.path === path);
        const whose = users.length > 1 ? "shared" : users[0].name;
        return data.paths[path].queues.map(({ hop, name, t, queue }) => ({
          // What several lanes share has the colour of none of them; several bottlenecks have strokes of their own.
          color: hop != null || users.length > 1 ? null : users[0].color, strokes: DASHES[(hop ?? 0) % DASHES.length],
          t, values: queue, label: name ?? (hop == null ? whose : `bottleneck ${hop + 1}`),
        }));
      });
    }
    return shown.flatMap((lane) => row.curves
      // BtlBw and bounds are guides to one flow; with several in a plot they would hide the others.
      .filter(([key, note]) => !(several && note) && lane[key].some((value) => value != null))
      .map(([key, note]) => ({
        color: lane.color, t: lane.t, values: lane[key], label: note || (data.is_crowd ? crowdName(lane) : lane.name),
        isGuide: !!note, isOfCrowd: data.is_crowd,
      })));
  };

  // The highest value of any lane in the part of the run that is shown: the row's plots share their axes.
  const top = (row) => {
    let max = 0;
    for (const curve of curvesOf(row, lanes).concat(row.isOfPath || row.isOfAll ? [] : lanes.flatMap((lane) => curvesOf(row, [lane])))) {
      curve.t.forEach((_, index) => {
        // With the neighbours outside: the curve comes from one and goes to the other.
        const isShown = !(curve.t[index + 1] < zoom[0]) && !(curve.t[index - 1] > zoom[1]);
        if (isShown && curve.values[index] > max) max = curve.values[index];
      });
    }
    for (const path of data.paths) {
      for (const [steps] of row.references(path)) {
        for (const [, value] of steps) if (value > max && value < 4 * max) max = value;
      }
    }
    return (max || 1) * 1.08;
  };

  // The states of these lanes, below each other, each over its part of the plot's height; with their names where there is room.
  const drawStates = (plot, shown, isNamed) => {
    const { ctx, bbox } = plot;
    const each = bbox.height / shown.length;
    const between = isNamed ? dots(2) : 0;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = `${dots(10)}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    shown.forEach((lane, index) => {
      const [y, height] = [bbox.top + index * each + between / 2, each - between];
      for (const stay of lane.states) {
        const [from, to] = [stay.from, stay.to].map((t) => plot.valToPos(t, "x", true));
        ctx.fillStyle = stateColor(stay);
        // A ribbon is small, so it is drawn twice as strong as a ground.
        for (let pass = 0; pass < (isNamed ? 2 : 1); pass++) ctx.fillRect(from, y, Math.max(to - from, dots(1)), height);
        const name = stay.state.replace("_", " ");
        const [first, last] = [Math.max(from, bbox.left), Math.min(to, bbox.left + bbox.width)];
        if (!isNamed || ctx.measureText(name).width + dots(6) > last - first) continue;
        ctx.fillStyle = css("--text");
        ctx.fillText(name, (first + last) / 2, y + height / 2);
      }
    });
    ctx.restore();
  };

  // Names of lanes stand on the left of their states, and all plots have the same room there.
  const left = () => {
    if (!hasRibbons()) return 52;
    const longest = Math.max(...lanes.map((lane) => lane.name.length));
    return Math.max(52, Math.min(14 + 6.2 * longest, 130));
  };
  const hasRibbons = () => layout === "overlay" && lanes.length > 1 && !data.is_crowd && lanes.some((lane) => lane.states.length);

  // The states of several lanes in one plot: a named ribbon for each.
  const makeRibbons = () => {
    const { box, readout } = plotBox(main, "State", "of each controller");
    const shared = overTime("fullpipe", setZoom, left());
    const [time, names] = shared.axes;
    const plot = plotIn(box, 20 * lanes.length + 42, `The states of ${lanes.map(({ name }) => name).join(", ")} over time`, {
      ...shared,
      scales: { x: { time: false, auto: false, range: (_, min, max) => [min ?? 0, max ?? data.end] },
                y: { auto: false, range: () => [0, lanes.length] } },
      axes: [{ ...time, grid: { show: false } }, { ...names, grid: { show: false }, ticks: { show: false }, gap: px(2),
                     splits: () => lanes.map((_, index) => lanes.length - index - 0.5),
                     filter: (_, splits) => splits, values: () => lanes.map(({ name }) => name) }],
      series: [{}, {}],
      hooks: {
        ...shared.hooks,
        draw: [(plot) => drawStates(plot, lanes, true)],
        setCursor: [(plot) => {
          readout.replaceChildren();
          if (plot.cursor.left == null || plot.cursor.left < 0) return;
          const t = plot.posToVal(plot.cursor.left, "x");
          element("b", readout, `${t.toFixed(3)} s`);
          for (const lane of lanes) readout.append(` · ${lane.name} ${stateAt(lane, t) ?? "–"}`);
        }],
      },
    }, [[0, data.end], [null, null]]);
    plots.push({ plot });
  };

  // Lines for reference: a step for every change of the path.
  const drawReferences = (plot, row, shown) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.font = `${dots(11)}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const drawn = new Set();
    const { min: from, max: to } = plot.scales.x;
    for (const path of new Set(shown.map((lane) => lane.path))) {
      for (const [steps, label] of row.references(data.paths[path])) {
        const shownSteps = steps.filter(([start], index) => start < to && !(steps[index + 1]?.[0] <= from));
        const value = shownSteps[shownSteps.length - 1]?.[1];
        if (value == null || drawn.has(String(steps))) continue;
        drawn.add(String(steps));
        const y = plot.valToPos(value, "y", true);
        ctx.strokeStyle = css("--faint");
        ctx.lineWidth = dots(1);
        ctx.setLineDash([dots(6), dots(4)]);
        ctx.beginPath();
        shownSteps.forEach(([start, level], index) => {
          const end = shownSteps[index + 1]?.[0] ?? to;
          for (const t of [Math.max(start, from), end]) ctx.lineTo(plot.valToPos(t, "x", true), plot.valToPos(level, "y", true));
        });
        ctx.stroke();
        // Below the line if there is no room above it; on a ground of its own, since curves may run behind it.
        const isBelow = y - bbox.top < dots(16);
        const place = [`${label} ${number(value)}`, bbox.left + bbox.width - dots(4),
                       y + (isBelow ? dots(16) : -dots(2))];
        ctx.setLineDash([]);
        const [words, right, bottom] = place;
        const [width, height] = [ctx.measureText(words).width + dots(6), dots(14)];
        ctx.globalAlpha = 0.8;
        ctx.fillStyle = css("--page");
        ctx.fillRect(right - width + dots(3), bottom - height + dots(1), width, height);
        ctx.globalAlpha = 1;
        ctx.fillStyle = css("--text");
        ctx.fillText(...place);
      }
    }
    ctx.restore();
  };

  const stateAt = (lane, t) => lane.states.find((stay) => t >= stay.from && t <= stay.to)?.state;

  const setZoom = (from = 0, to = data.end) => {
    zoom = to - from > 1e-4 ? [Math.max(0, from), Math.min(data.end, to)] : [0, data.end];
    const tops = new Map(ROWS.map((row) => [row, top(row)]));
    for (const { plot, row } of plots) {
      plot.batch(() => {
        plot.setScale("x", { min: zoom[0], max: zoom[1] });
        if (row) plot.setScale("y", { min: 0, max: tops.get(row) });
      });
    }
  };

  const makePlot = (row, shown, max) => {
    const curves = curvesOf(row, shown);
    if (curves.length === 0) return;
    const whose = curves[0].color == null ? curves[0].label : shown[0].name;
    const { box, readout } = plotBox(main, row.title, `${row.unit}${shown.length === 1 ? ` · ${whose}` : ""}`);

    const columns = together(curves.map((curve) => [curve.t, curve.values]));
    const color = (curve) => curve.isGuide || curve.color == null ? css("--text") : css(look(curve.color).color);
    const dash = (curve) => (curve.isGuide ? [3, 3] : curve.color == null ? curve.strokes : look(curve.color).dash);
    const shared = overTime("fullpipe", setZoom, left());
    const names = [...new Set(curves.map(({ label }) => label))].join(", ");
    const plot = plotIn(box, 210, `${row.title} in ${row.unit} over time: ${names}`, {
      ...shared,
      scales: { x: { time: false, auto: false, range: (_, min, max) => [min ?? 0, max ?? data.end] },
                y: { auto: false, range: (_, min, high) => [0, high ?? max] } },
      series: [{}, ...curves.map((curve) => curveStyle(color(curve), {
        width: curve.isGuide || curve.isOfCrowd ? 1 : 1.4, dash: dash(curve), alpha: curve.isOfCrowd ? 0.35 : 1,
      }))],
      hooks: {
        ...shared.hooks,
        drawClear: [(plot) => shown.length === 1 && !data.is_crowd && drawStates(plot, shown, false)],
        draw: [(plot) => drawReferences(plot, row, shown)],
        setCursor: [(plot) => {
          readout.replaceChildren();
          if (plot.cursor.left == null || plot.cursor.left < 0) return;
          const t = plot.posToVal(plot.cursor.left, "x");
          element("b", readout, `${t.toFixed(3)} s`);
          const read = (label, value, curve) => {
            readout.append(` · ${label} `);
            element("b", readout, number(value)).style.color = color(curve);
          };
          if (curves.some((curve) => curve.isOfCrowd)) {
            for (const label of new Set(curves.map((curve) => curve.label))) {
              const same = curves.filter((curve) => curve.label === label);
              read(`${label}, median`, median(same.map((curve) => lastBefore(curve, t))), same[0]);
            }
            return;
          }
          for (const curve of curves) read(curve.label, lastBefore(curve, t), curve);
          for (const lane of row.isOfAll ? [] : shown) {
            const state = stateAt(lane, t);
            if (state) readout.append(` · ${shown.length > 1 ? `${lane.name} ` : ""}${state}`);
          }
        }],
      },
    }, columns);
    plots.push({ plot, row });
  };

  // The value at the time or the last one before it; none in a pause, and after the end.
  const lastBefore = (curve, t) => {
    if (t > curve.t[curve.t.length - 1]) return null;
    let low = 0, high = curve.t.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (curve.t[middle] <= t) low = middle + 1; else high = middle;
    }
    while (low > 0) if (curve.values[--low] !== undefined) return curve.values[low];
    return null;
  };

  const median = (values) => {
    const known = values.filter((value) => value != null).sort((a, b) => a - b);
    return known.length ? known[(known.length - 1) >> 1] : null;
  };

  const build = () => {
    for (const { plot } of plots) plot.destroy();
    plots = [];
    main.replaceChildren();
    const columns = layout === "columns" ? lanes.map((lane) => [lane]) : [lanes];
    main.style.gridTemplateColumns = `repeat(${columns.length}, minmax(0, 1fr))`;
    if (hasRibbons()) makeRibbons();
    for (const row of ROWS) {
      const max = top(row);
      for (const shown of columns) makePlot(row, shown, max);
    }
    setZoom(...zoom);
    for (const button of document.querySelectorAll("#layout button")) {
      button.setAttribute("aria-pressed", button.value === layout);
    }
  };

  const buildLegend = () => {
    const legend = document.getElementById("legend");
    const entry = (text, fill, className) =>
      element("span", legend, text, className).style.setProperty("--swatch", fill);
    for (const { name, color } of data.legend) swatch(element("span", legend, name, "stroke"), look(color));
    const has = (...keys) => !data.is_crowd && lanes.some((lane) => keys.some((key) => lane[key].some((value) => value != null)));
    const hasBounds = has("short_bw", "short_inflight", "long_inflight");
    if (has("btlbw")) entry(hasBounds ? "BtlBw, bounds" : "BtlBw", "var(--text)", "stroke dotted");
    entry("reference", "var(--faint)", "stroke dashed");
    // The states of each controller; the parts of ProbeBW have one colour, and one entry. Controllers with the same states have
    // them once.
    const states = new Map();
    for (const lane of lanes) {
      const own = new Map(lane.states.map((stay) => [stay.state.split("_")[0], stay.color]));
      if (own.size) states.set(lane.controller, new Map([...(states.get(lane.controller) ?? []), ...own]));
    }
    const owners = new Map();
    for (const [controller, own] of states) {
      const key = [...own.keys()].sort().join();
      owners.set(key, { own, names: [...(owners.get(key)?.names ?? []), controller] });
    }
    for (const { own, names } of owners.values()) {
      element("b", legend, `${names.join(", ")}:`);
      for (const [state, color] of own) entry(state, `var(--state-${color})`);
    }
  };

  const layouts = document.getElementById("layout");
  layouts.hidden = lanes.length < 2 || data.is_crowd;
  layouts.addEventListener("click", (event) => {
    if (!event.target.value) return;
    layout = event.target.value;
    build();
  });
  if (innerWidth < 760) layout = "overlay";
  buildLegend();
  paintWith(build);
})();
