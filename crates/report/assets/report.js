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
    { title: "Queue at the bottleneck", unit: "kB", isOfPath: true, references: (path) => [[path.bdp, "BDP"]] },
  ];

  const lanes = data.lanes;
  let plots = [];
  let zoom = [0, data.end];
  let layout = data.is_crowd || lanes.length > 3 ? "overlay" : "columns";

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
        return data.paths[path].queues.map(({ hop, t, queue }) => ({
          // Several bottlenecks have a colour each; one of several lanes has none of theirs.
          color: hop ?? (users.length > 1 ? null : users[0].color), t, values: queue,
          label: hop == null ? whose : `${hop + 1}`,
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
    // Ribbons of states need room above the curves.
    return (max || 1) * (1.08 + (layout === "overlay" && !data.is_crowd ? Math.min(0.05 * lanes.length, 0.35) : 0));
  };

  const drawStates = (plot, shown) => {
    if (data.is_crowd) return;
    const { ctx, bbox } = plot;
    const ribbon = Math.min(7 * devicePixelRatio, (0.25 * bbox.height) / shown.length);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    shown.forEach((lane, index) => {
      const y = bbox.top + (shown.length > 1 ? index * (ribbon + devicePixelRatio) : 0);
      const height = shown.length > 1 ? ribbon : bbox.height;
      for (const stay of lane.states) {
        const from = plot.valToPos(stay.from, "x", true);
        const to = plot.valToPos(stay.to, "x", true);
        ctx.fillStyle = stateColor(stay);
        // Several lanes share the plot: their ribbons are small, so they are drawn twice as strong.
        for (let pass = 0; pass < (shown.length > 1 ? 2 : 1); pass++) {
          ctx.fillRect(from, y, Math.max(to - from, devicePixelRatio), height);
        }
      }
    });
    ctx.restore();
  };

  // Lines for reference: a step for every change of the path.
  const drawReferences = (plot, row, shown) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
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
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
        ctx.beginPath();
        shownSteps.forEach(([start, level], index) => {
          const end = shownSteps[index + 1]?.[0] ?? to;
          for (const t of [Math.max(start, from), end]) ctx.lineTo(plot.valToPos(t, "x", true), plot.valToPos(level, "y", true));
        });
        ctx.stroke();
        // Below the line if there is no room above it; on a ground of its own, since curves may run behind it.
        const isBelow = y - bbox.top < 16 * devicePixelRatio;
        const place = [`${label} ${number(value)}`, bbox.left + bbox.width - 4 * devicePixelRatio,
                       y + (isBelow ? 16 : -2) * devicePixelRatio];
        ctx.setLineDash([]);
        const [words, right, bottom] = place;
        const [width, height] = [ctx.measureText(words).width + 6 * devicePixelRatio, 14 * devicePixelRatio];
        ctx.globalAlpha = 0.8;
        ctx.fillStyle = css("--page");
        ctx.fillRect(right - width + 3 * devicePixelRatio, bottom - height + devicePixelRatio, width, height);
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
        plot.setScale("y", { min: 0, max: tops.get(row) });
      });
    }
  };

  const makePlot = (row, shown, max) => {
    const curves = curvesOf(row, shown);
    if (curves.length === 0) return;
    const whose = curves[0].color == null ? curves[0].label : shown[0].name;
    const { box, readout } = plotBox(main, row.title, `${row.unit}${shown.length === 1 ? ` · ${whose}` : ""}`);

    const tables = curves.map((curve) => [curve.t, curve.values]);
    const columns = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const color = (curve) => curve.isGuide || curve.color == null ? css("--text") : css(look(curve.color).color);
    const dash = (curve) => (curve.isGuide ? [3, 3] : curve.color == null ? [] : look(curve.color).dash);
    const shared = overTime("fullpipe", setZoom);
    const plot = new uPlot({
      ...shared,
      width: box.clientWidth, height: 210,
      scales: { x: { time: false, auto: false, range: (_, min, max) => [min ?? 0, max ?? data.end] },
                y: { auto: false, range: (_, min, high) => [0, high ?? max] } },
      series: [{}, ...curves.map((curve) => ({
        stroke: color(curve), width: curve.isGuide || curve.isOfCrowd ? 1 : 1.4, dash: dash(curve),
        alpha: curve.isOfCrowd ? 0.35 : 1,
        spanGaps: true, points: { show: false },
      }))],
      hooks: {
        ...shared.hooks,
        drawClear: [(plot) => drawStates(plot, shown)],
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
    }, columns, box);
    plots.push({ plot, row, box });
  };

  // The value at the time or the last one before it; none after the end.
  const lastBefore = (curve, t) => {
    if (t > curve.t[curve.t.length - 1]) return null;
    let low = 0, high = curve.t.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (curve.t[middle] <= t) low = middle + 1; else high = middle;
    }
    while (low > 0) if (curve.values[--low] != null) return curve.values[low];
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
    // The parts of ProbeBW have one colour, and one entry.
    for (const [state, color] of new Map(lanes.flatMap((lane) => lane.states.map((stay) => [stay.state.split("_")[0], stay.color])))) {
      entry(state, `var(--state-${color})`);
    }
    document.querySelectorAll("#flows tbody tr").forEach((row, index) =>
      swatch(row, look(data.rows[index])));
  };

  const layouts = document.getElementById("layout");
  layouts.hidden = lanes.length < 2 || data.is_crowd;
  layouts.addEventListener("click", (event) => {
    if (!event.target.value) return;
    layout = event.target.value;
    build();
  });
  if (innerWidth < 760) layout = "overlay";
  new ResizeObserver(() => {
    for (const { plot, box } of plots) plot.setSize({ width: box.clientWidth, height: plot.height });
  }).observe(main);

  buildLegend();
  paintWith(build);
})();
