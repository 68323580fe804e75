"use strict";
(() => {

  // What a machine that was late releases at once is far above the rate of the path, and would flatten all the rest: it is cut.
  const MAX_OF_PATH_RATE = 2.5;

  // The plots of a case: what is drawn of a run, and a line for reference; of a rate, what is far above it is cut.
  const PLOTS = [
    { title: "Throughput", unit: "Mbit/s", key: "throughput", reference: "rate", isCut: true },
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
    for (const { title, unit, key, reference, isCut } of PLOTS) {
      const { box, readout } = plotBox(place, title, unit);
      const curves = curvesOf(runs, key);
      if (curves.length === 0) {
        element("p", box, "not known of either engine", "hint");
        continue;
      }
      // Faint curves first: the strong ones lie above them.
      curves.sort((one, other) => one.isFirst - other.isFirst);
      const columns = together(curves.map(({ t, values }) => [t, values]));
      const series = curves.map(({ engine, isFirst }) =>
        curveStyle(css(look(engine).color), { width: isFirst ? 1.5 : 1, alpha: isFirst ? 1 : 0.3 }));
      const steps = reference ? path[reference] : [];
      if (steps.length > 0) {
        columns.push(stepped(steps, columns[0]));
        series.push({ stroke: css("--faint"), width: px(1), dash: [px(6), px(4)], points: { show: false } });
      }
      const most = isCut && steps.length > 0 ? MAX_OF_PATH_RATE * Math.max(...steps.map(([, value]) => value)) : Infinity;
      const end = columns[0][columns[0].length - 1];
      const zoom = (min = 0, max = end) => plots.forEach((plot) => plot.setScale("x", { min, max }));
      const shared = overTime(section.id, zoom);
      const plot = plotIn(box, 210, `${title} in ${unit} over time: ${data.engines.join(", ")}`, {
        ...shared,
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.min(high || 1, most) * 1.08] } },
        series: [{}, ...series],
        hooks: {
          ...shared.hooks,
          draw: [drawCut],
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
      }, columns);
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

  paintWith(() => {
    for (const section of sections) {
      section.uplots?.forEach((plot) => plot.destroy());
      section.uplots = null;
      near.unobserve(section);
      // Paper has all of them.
      if (onPaper) build(section);
      else near.observe(section);
    }
  });
})();
