"use strict";
(() => {
  const main = document.getElementById("plots");
  const color = (index) => css(look(index).color);

  const ROWS = [
    { title: "Queue", unit: "ms to wait", t: "t", values: "delay" },
    { title: "Throughput", unit: "Mbit/s, headers included", t: "rate_t", values: "rate", limit: "limit" },
  ];
  let plots = [];

  const setZoom = (from = 0, to = data.end) => {
    const isShort = to - from < 1e-3;
    for (const { plot } of plots) plot.setScale("x", isShort ? { min: 0, max: data.end } : { min: from, max: to });
  };

  // The bottlenecks' rates, as dashed lines.
  const drawLimits = (plot, row) => {
    if (!row.limit) return;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.setLineDash([dots(6), dots(4)]);
    data.ways.forEach((way, index) => {
      if (way[row.limit] == null || way[row.limit] > plot.scales.y.max) return;
      const y = plot.valToPos(way[row.limit], "y", true);
      ctx.strokeStyle = color(index);
      ctx.lineWidth = dots(1);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    });
    ctx.restore();
  };

  const makePlot = (row) => {
    const { box, readout } = plotBox(main, row.title, row.unit);
    const tables = data.ways.map((way) => [way[row.t], way[row.values]]);
    const shared = overTime("fullpipe", setZoom);
    const plot = plotIn(box, 260, `${row.title} in ${row.unit} over time: ${data.ways.map(({ name }) => name).join(", ")}`, {
      ...shared,
      scales: { x: { time: false, auto: false, range: (_, min, max) => [min ?? 0, max ?? data.end] },
                y: { range: (_, min, max) => [0, (max || 1) * 1.08] } },
      series: [{}, ...data.ways.map((_, index) => curveStyle(color(index), { width: 1.4 }))],
      hooks: {
        ...shared.hooks,
        draw: [(plot) => drawLimits(plot, row)],
        setCursor: [(plot) => {
          readout.replaceChildren();
          if (plot.cursor.left == null || plot.cursor.left < 0) return;
          const t = plot.posToVal(plot.cursor.left, "x");
          element("b", readout, `${t.toFixed(3)} s`);
          data.ways.forEach((way, index) => {
            const after = way[row.t].findIndex((at) => at > t);
            const latest = way[row.values][(after < 0 ? way[row.t].length : after) - 1];
            readout.append(` · ${way.name} `);
            element("b", readout, number(latest)).style.color = color(index);
          });
        }],
      },
    }, together(tables));
    plots.push({ plot });
  };

  const build = () => {
    for (const { plot } of plots) plot.destroy();
    plots = [];
    main.replaceChildren();
    ROWS.forEach(makePlot);
    setZoom();
  };

  const legend = document.getElementById("legend");
  data.ways.forEach((way, index) => swatch(element("span", legend, way.name, "stroke"), look(index)));
  if (data.ways.some((way) => way.limit != null)) {
    element("span", legend, "bottleneck", "stroke dashed").style.setProperty("--swatch", "var(--faint)");
  }
  paintWith(build);
})();
