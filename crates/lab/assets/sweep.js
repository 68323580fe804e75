"use strict";
(() => {
  const main = document.getElementById("plots");

  const lines = data.lines.map((line, index) => ({
    ...line, ...look(index), isShown: true,
  }));
  // Curves run from the smallest x to the largest, whatever the order of the sweep.
  const order = data.x.places.map((_, index) => index).sort((a, b) => data.x.places[a] - data.x.places[b]);
  const places = order.map((index) => data.x.places[index]);
  const labels = order.map((index) => data.x.labels[index]);
  let metric = Math.max(0, data.metrics.findIndex((each) => each.name === data.y));
  let isLog = false;
  let plot = null;

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

  // Median, smallest and largest value of a line, as columns; what a log scale cannot show is left out.
  const columns = (line) => [0, 1, 2].map((part) =>
    order.map((index) => {
      const value = line.values[metric]?.[index]?.[part];
      return value == null || (isLog && value <= 0) ? null : value;
    }));

  const build = () => {
    plot?.destroy();
    main.replaceChildren();
    const box = element("section", main, null, "plot");
    const top = element("div", box, null, "top");
    element("h2", top, data.metrics[metric]?.title ?? "");
    const readout = element("div", top, null, "readout");
    const shown = lines.filter((line) => line.isShown);
    const values = shown.flatMap(columns);
    const all = values.flat().filter((value) => value != null);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const axis = axisStyle();
    const margin = places.length > 1 ? (places[places.length - 1] - places[0]) * 0.02 : 1;
    const xRange = data.x.scale === "log"
      ? [places[0] / 1.15, places[places.length - 1] * 1.15]
      : [places[0] - margin, places[places.length - 1] + margin];
    const series = shown.flatMap((line) => [
      { stroke: css(line.color), width: 2, dash: line.dash, spanGaps: true, points: { show: true, size: 6, fill: css(line.color) } },
      { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true },
      { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true },
    ]);
    const bands = shown.map((line, index) => ({ series: [3 * index + 3, 3 * index + 2], fill: `color-mix(in srgb, ${css(line.color)} 20%, transparent)` }));
    plot = new uPlot({
      width: box.clientWidth, height: 420, padding: [12, 24, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: data.x.scale === "log" ? 3 : 1, range: () => xRange },
        y: isLog ? { distr: 3, range: () => (all.length ? [low / 1.2, high * 1.2] : [0.1, 1]) }
                 : { range: () => [0, (all.length ? high : 1) * 1.06 || 1] },
      },
      series: [{}, ...series], bands,
      axes: [
        { ...axis, size: 50, label: data.x.field, labelFont: "12px system-ui, sans-serif", labelSize: 18,
          splits: () => places,
          // Of a log scale, uPlot would label the powers of ten alone.
          filter: (_, splits) => splits,
          // A label for each value, as the sweep writes it, where there is room for it.
          values: (plot, splits) => {
            let end = -Infinity;
            return splits.map((place, index) => {
              const middle = plot.valToPos(place, "x");
              const half = 3.5 * labels[index].length;
              if (middle - half < end + 6) return "";
              end = middle + half;
              return labels[index];
            });
          } },
        { ...axis, size: 78, values: (_, ticks) => ticks.map((tick) => (tick == null ? "" : text(tick))) },
      ],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      hooks: {
        setCursor: [(plot) => {
          readout.replaceChildren();
          const index = plot.cursor.idx;
          if (index == null || plot.cursor.left < 0) return;
          element("b", readout, `${data.x.field} ${labels[index]}`);
          shown.forEach((line, place) => {
            const [middle, min, max] = [1, 2, 3].map((part) => plot.data[3 * place + part][index]);
            readout.append(` · ${line.name} `);
            element("b", readout, text(middle)).style.color = css(line.color);
            if (min !== max) readout.append(` (${text(min)}–${text(max)})`);
          });
        }],
      },
    }, [places, ...values], box);
  };

  const select = document.getElementById("metric");
  data.metrics.forEach((each, index) => {
    const option = element("option", select, each.title);
    option.value = index;
    option.selected = index === metric;
  });
  select.addEventListener("change", () => {
    metric = Number(select.value);
    build();
  });
  const log = document.getElementById("log");
  log.addEventListener("click", () => {
    isLog = !isLog;
    log.setAttribute("aria-pressed", isLog);
    build();
  });
  const legend = document.getElementById("legend");
  for (const line of lines) {
    const entry = element("button", legend, line.name);
    entry.type = "button";
    swatch(entry, line);
    entry.setAttribute("aria-pressed", true);
    entry.addEventListener("click", () => {
      line.isShown = !line.isShown;
      entry.setAttribute("aria-pressed", line.isShown);
      build();
    });
  }
  // Each row has the colour of the line that it is a point of.
  document.querySelectorAll("tbody tr").forEach((row, index) => {
    const line = lines[data.rows[index]];
    if (line) swatch(row, line);
  });

  new ResizeObserver(() => plot?.setSize({ width: main.clientWidth, height: plot.height })).observe(main);
  paintWith(() => {
    if (data.metrics.length) build();
  });
})();
