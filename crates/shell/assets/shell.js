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
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    data.ways.forEach((way, index) => {
      if (way[row.limit] == null || way[row.limit] > plot.scales.y.max) return;
      const y = plot.valToPos(way[row.limit], "y", true);
      ctx.strokeStyle = color(index);
      ctx.lineWidth = devicePixelRatio;
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
    const plot = new uPlot({
      ...shared,
      width: box.clientWidth, height: 260,
      scales: { x: { time: false, auto: false, range: (_, min, max) => [min ?? 0, max ?? data.end] },
                y: { range: (_, min, max) => [0, (max || 1) * 1.08] } },
      series: [{}, ...data.ways.map((_, index) => ({
        stroke: color(index), width: 1.4, spanGaps: true, points: { show: false },
      }))],
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
    }, uPlot.join(tables), box);
    plots.push({ plot, box });
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
  new ResizeObserver(() => {
    for (const { plot, box } of plots) plot.setSize({ width: box.clientWidth, height: plot.height });
  }).observe(main);
  paintWith(build);
})();
