"use strict";
(() => {

  // The plots of a case: what is drawn of a run, and a line for reference.
  const PLOTS = [
    { title: "Throughput", unit: "Mbit/s", key: "throughput", reference: "rate" },
    { title: "Smoothed RTT", unit: "ms", key: "rtt", reference: "rtprop" },
    { title: "Queue at the bottleneck", unit: "ms", key: "queue" },
  ];

  const curvesOf = (runs, key) => runs.flatMap((side, engine) => side.map((run, place) => ({
    engine, isFirst: place === 0, values: run[key], t: run[key].map((_, index) => (index + 1) * run.step_s),
  }))).filter((curve) => curve.values.some((value) => value != null));

  const stepped = (steps, t) => t.map((at) => steps.findLast(([from]) => from <= at)?.[1] ?? null);

  const build = (section) => {
    const place = section.querySelector(".plots");
    place.replaceChildren();
    const { runs, ...path } = data.cases[section.dataset.case];
    const plots = [];
    for (const { title, unit, key, reference } of PLOTS) {
      const { box, readout } = plotBox(place, title, unit);
      const curves = curvesOf(runs, key);
      if (curves.length === 0) {
        element("p", box, "not known of either engine", "hint");
        continue;
      }
      // Faint curves first: the strong ones lie above them.
      curves.sort((one, other) => one.isFirst - other.isFirst);
      const tables = curves.map(({ t, values }) => [t, values]);
      const columns = tables.length > 1 ? uPlot.join(tables) : tables[0];
      const series = curves.map(({ engine, isFirst }) => ({
        stroke: css(look(engine).color), width: isFirst ? 1.5 : 1, alpha: isFirst ? 1 : 0.3, spanGaps: true, points: { show: false },
      }));
      const steps = reference ? path[reference] : [];
      if (steps.length > 0) {
        columns.push(stepped(steps, columns[0]));
        series.push({ stroke: css("--faint"), width: 1, dash: [6, 4], points: { show: false } });
      }
      const end = columns[0][columns[0].length - 1];
      const zoom = (min = 0, max = end) => plots.forEach((plot) => plot.setScale("x", { min, max }));
      const shared = overTime(section.id, zoom);
      const plot = new uPlot({
        ...shared,
        width: box.clientWidth, height: 210,
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, (high || 1) * 1.08] } },
        series: [{}, ...series],
        hooks: {
          ...shared.hooks,
          setCursor: [(plot) => {
            readout.replaceChildren();
            if (plot.cursor.idx == null) return;
            element("b", readout, `${plot.data[0][plot.cursor.idx].toFixed(2)} s`);
            curves.forEach(({ engine, isFirst }, index) => {
              if (!isFirst) return;
              readout.append(` · ${data.engines[engine]} `);
              element("b", readout, number(plot.data[index + 1][plot.cursor.idx])).style.color = css(look(engine).color);
            });
          }],
        },
      }, columns, box);
      plots.push(plot);
    }
    section.uplots = plots;
  };

  // Plots are made when they come near the window: there are hundreds.
  const sections = [...document.querySelectorAll(".case")];
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting && !target.uplots) build(target);
  }, { rootMargin: "600px" });

  const legend = document.getElementById("legend");
  data.engines.forEach((name, engine) =>
    swatch(element("span", legend, name, "stroke"), look(engine)));
  element("span", legend, "bottleneck, RTprop", "stroke dashed").style.setProperty("--swatch", "var(--faint)");

  addEventListener("resize", () => {
    for (const section of sections) {
      section.uplots?.forEach((plot) => plot.setSize({ width: plot.root.parentElement.clientWidth, height: plot.height }));
    }
  });
  paintWith(() => {
    for (const section of sections) {
      section.uplots?.forEach((plot) => plot.destroy());
      section.uplots = null;
      near.unobserve(section);
      near.observe(section);
    }
  });
})();
