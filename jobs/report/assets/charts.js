/* Draws each chart of the page in the colours of the style sheet, again when light turns dark, and makes them obey keys. */
"use strict";

/* How things look: colours by name from the style sheet, hatches, moments, tips. */
const Look = (() => {
  const HATCHES = [
    null,
    { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 },
    { symbol: "circle", dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [6, 0], symbolSize: 0.5 },
    { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 4 },
  ];
  const HATCHED = ["abandoned", "revoking", "unreleased"];
  const pen = document.createElement("canvas").getContext("2d");

  function now() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim() || "#888888";
    const decal = (hatch) => ({ ...hatch, color: get("hatch"), maxTileWidth: 64, maxTileHeight: 64 });
    const fill = (name) => {
      const owner = /^owner-(\d)-(\d)(-standby)?$/.exec(name);
      if (owner && owner[3]) return { fill: "transparent", stroke: get(`owner-${owner[1]}`), lineWidth: 1.5 };
      if (owner) return { fill: get(`owner-${owner[1]}`), ...(owner[2] > 0 ? { decal: decal(HATCHES[owner[2]]) } : {}) };
      if (name === "nobody") return { fill: get(name), stroke: get("rebalance"), lineWidth: 1, decal: decal(HATCHES[2]) };
      return HATCHED.includes(name) ? { fill: get(name), decal: decal(HATCHES[1]) } : { fill: get(name) };
    };
    return { get, fill };
  }

  function escaped(text) {
    const node = document.createElement("span");
    node.textContent = text;
    return node.innerHTML;
  }

  function tip(lines) {
    const [first, ...rest] = lines.map(escaped);
    return first === undefined ? "" : `<div class="tip"><strong>${first}</strong>${rest.map((line) => `<br>${line}`).join("")}</div>`;
  }

  const moment = (at) => new Date(at).toISOString().replace("T", " ").slice(0, 23);

  /* Labels of the axis: what the length of it leaves unsaid is left out. */
  const axisTime = (length) => (at) => {
    const text = new Date(at).toISOString();
    if (length > 3 * 86400000) return text.slice(0, 10);
    return length > 3 * 3600000 ? text.slice(5, 16).replace("T", " ") : text.slice(11, 19);
  };

  function textWidth(text) {
    pen.font = "11px system-ui, sans-serif";
    return pen.measureText(text).width;
  }

  return { now, tip, escaped, moment, axisTime, textWidth };
})();

/* Rebalances of the busiest groups over time. */
const Heat = (() => {
  const option = (data, look, width) => {
    const text = { color: look.get("pale"), fontSize: 11 };
    const most = Math.max(...data.cells.map((cell) => cell[2]));
    const length = data.columns[data.columns.length - 1] - data.columns[0];
    return {
      animation: false, backgroundColor: "transparent", textStyle: { fontFamily: "system-ui, sans-serif" },
      grid: { left: width < 640 ? 110 : 200, right: 18, top: 12, bottom: 78 },
      xAxis: { type: "category", data: data.columns.map(Look.axisTime(length)), axisLabel: { ...text, hideOverlap: true }, axisTick: { show: false },
        axisLine: { lineStyle: { color: look.get("line") } }, splitArea: { show: false } },
      yAxis: { type: "category", data: data.groups, inverse: true, axisTick: { show: false }, axisLine: { show: false },
        axisLabel: { color: look.get("ink"), fontSize: 12, width: width < 640 ? 96 : 184, overflow: "truncate", interval: 0 },
        splitLine: { show: true, interval: 0, lineStyle: { color: look.get("line") } } },
      visualMap: { min: 1, max: Math.max(most, 2), calculable: false, orient: "horizontal", left: "center", bottom: 8, itemHeight: 140, itemWidth: 12, text: [`${most} rebalances`, "1"], textStyle: text,
        inRange: { color: [0, 1, 2, 3].map((step) => look.get(`heat-${step}`)) } },
      tooltip: { confine: true, backgroundColor: look.get("raised"), borderColor: look.get("line"), textStyle: { color: look.get("ink") }, transitionDuration: 0,
        formatter: ({ value }) => Look.tip([data.groups[value[1]], `${value[2]} rebalance${value[2] === 1 ? "" : "s"} in the ${data.width} from`, Look.moment(data.columns[value[0]])]) },
      series: [{ type: "heatmap", data: data.cells, cursor: "pointer", itemStyle: { borderColor: look.get("raised"), borderWidth: 1 },
        emphasis: { itemStyle: { borderColor: look.get("ink"), borderWidth: 1 } } }],
    };
  };
  return { option, height: (data) => data.groups.length * 24 + 100, legend: () => [], go: (data, params) => { location.href = data.pages[params.value[1]]; } };
})();

/* The broker's answers beside the predictions, by kind of request. */
const Audit = (() => {
  const option = (data, look, width) => {
    const text = { color: look.get("pale"), fontSize: 11 };
    return {
      animation: false, backgroundColor: "transparent", textStyle: { fontFamily: "system-ui, sans-serif" },
      grid: { left: width < 640 ? 110 : 170, right: 30, top: 8, bottom: 30 },
      xAxis: { type: "value", max: 100, axisLabel: { ...text, formatter: "{value} %" }, splitLine: { lineStyle: { color: look.get("line") } } },
      yAxis: { type: "category", inverse: true, data: data.apis, axisTick: { show: false }, axisLine: { show: false }, axisLabel: { color: look.get("ink"), fontSize: 12 } },
      tooltip: { confine: true, backgroundColor: look.get("raised"), borderColor: look.get("line"), textStyle: { color: look.get("ink") }, transitionDuration: 0,
        formatter: (params) => Look.tip([`${data.apis[params.dataIndex]}: ${params.seriesName}`, `${data.series[params.seriesIndex][2][params.dataIndex].toLocaleString("en")} of ${data.totals[params.dataIndex].toLocaleString("en")}`]) },
      series: data.series.map(([name, colour, values]) => ({
        type: "bar", stack: "all", name, barMaxWidth: 18, itemStyle: { color: look.get(colour), borderColor: look.get("raised"), borderWidth: 1 },
        data: values.map((value, at) => (100 * value) / data.totals[at]),
      })),
    };
  };
  return { option, height: (data) => data.apis.length * 32 + 46, legend: (data) => data.series.map(([name, colour]) => [name, colour]) };
})();

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.kind = { timeline: Timeline, heat: Heat, audit: Audit }[figure.dataset.kind];
    this.data = JSON.parse(figure.querySelector("script").textContent);
    this.node = figure.querySelector(".canvas");
    this.said = figure.querySelector("output");
    this.draw();
    new ResizeObserver(() => { if (Math.abs(this.node.clientWidth - this.width) > 1) this.draw(); }).observe(this.node);
    figure.addEventListener("click", (event) => { const what = event.target.dataset.do; if (what) this.move(what); });
    this.node.addEventListener("keydown", (event) => this.key(event));
  }

  draw() {
    const kept = this.chart && this.kind === Timeline ? this.range() : null;
    if (this.chart) this.chart.dispose();
    const look = Look.now();
    this.width = this.node.clientWidth;
    this.node.style.height = `${this.kind.height(this.data)}px`;
    const marks = (this.data.panels || []).reduce((sum, panel) => sum + panel.bars.length + panel.marks.length, 0);
    // SVG is sharp in print; of very many marks a canvas is quicker.
    this.chart = echarts.init(this.node, null, { renderer: marks > 4000 ? "canvas" : "svg" });
    this.chart.setOption(this.kind.option(this.data, look, this.width));
    this.chart.on("click", (params) => {
      if (this.kind.go) this.kind.go(this.data, params);
      const link = params.data && params.data.mark && params.data.mark.link;
      if (link) location.hash = link;
    });
    this.chart.on("datazoom", () => this.say());
    this.legend(look);
    if (kept) this.zoom(...kept);
    this.say();
  }

  legend(look) {
    const entries = this.kind.legend(this.data);
    const old = this.figure.querySelector(".legend");
    if (old) old.remove();
    if (!entries.length) return;
    const list = document.createElement("ul");
    list.className = "legend";
    for (const [name, colour] of entries) {
      const item = document.createElement("li");
      const style = look.fill(colour);
      const hatch = style.decal ? '<path d="M0 9L11 0M4 13L15 4" stroke="#0007" stroke-width="2"/>' : "";
      item.innerHTML = `<svg viewBox="0 0 11 9" aria-hidden="true"><rect width="11" height="9" fill="${style.fill}" stroke="${style.stroke || "none"}" stroke-width="2"/>${hatch}</svg>`;
      item.append(name);
      list.append(item);
    }
    this.node.after(list);
  }

  /* What is in view, as two moments. */
  range() {
    const { startValue, endValue } = this.chart.getOption().dataZoom[0];
    return [startValue, endValue];
  }

  zoom(begin, end) {
    this.chart.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, startValue: begin, endValue: end });
    this.say();
  }

  move(what) {
    if (this.kind !== Timeline) return;
    const { min, max } = this.chart.getOption().xAxis[0];
    const [begin, end] = this.range();
    const length = end - begin;
    const to = {
      in: [begin + length / 4, end - length / 4], out: [begin - length / 2, end + length / 2],
      left: [begin - length / 4, end - length / 4], right: [begin + length / 4, end + length / 4], all: [min, max],
    }[what];
    const shift = Math.max(min - to[0], 0) - Math.max(to[1] - max, 0);
    const isMove = what === "left" || what === "right";
    this.zoom(Math.max(to[0] + (isMove ? shift : 0), min), Math.min(to[1] + (isMove ? shift : 0), max));
  }

  key(event) {
    const what = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" }[event.key];
    if (!what || event.ctrlKey || event.metaKey || event.altKey || this.kind !== Timeline) return;
    event.preventDefault();
    this.move(what);
  }

  say() {
    if (this.said && this.kind === Timeline) this.said.textContent = this.range().map(Look.moment).join(" to ");
  }
}

const CHARTS = [];
document.addEventListener("DOMContentLoaded", () => {
  CHARTS.push(...[...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure)));
  const redraw = () => CHARTS.forEach((chart) => chart.draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => { document.documentElement.classList.add("printing"); redraw(); });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("printing"); redraw(); });
});
