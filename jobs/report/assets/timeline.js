/* The chart of one group: panels of lanes over one axis of time. What is drawn comes from the page; nothing is worked out here. */
"use strict";

const Timeline = (() => {
  const LANE = 24;
  const GAP = 34;
  const AXIS = 74;
  const WAYS = [
    ["to give something up", "unrevoked"], ["waits for others", "unreleased"], ["left for a while", "away"],
    ["to be given back", "revoking"], ["standby or warm-up task", "standby"], ["nobody, though Stable", "nobody"],
  ];

  /* The panels from top to bottom, with their places. */
  function places(panels) {
    let top = 30;
    return panels.map((panel) => {
      const height = Math.max(panel.lanes.length * LANE, LANE);
      const place = { top, height };
      top += height + GAP;
      return place;
    });
  }

  function height(data) {
    const all = places(data.panels);
    const last = all[all.length - 1];
    return last.top + last.height + AXIS;
  }

  function bars(panel, grid, look, until) {
    const item = (bar) => ({
      value: [bar.lane, bar.begin, bar.end === null ? until : Math.min(bar.end, until)],
      bar,
    });
    const draw = (params, api) => {
      const bar = panel.bars[params.dataIndex];
      const [x, y] = api.coord([api.value(1), bar.lane]);
      const right = api.coord([api.value(2), bar.lane])[0];
      const lane = api.size([0, 1])[1] * 0.78;
      const height = Math.max(lane / bar.slots - (bar.slots > 1 ? 1 : 0), 1);
      const top = y - lane / 2 + (lane * bar.slot) / bar.slots;
      // What took a millisecond stays visible as a hairline.
      const shape = echarts.graphic.clipRectByRect(
        { x, y: top, width: Math.max(right - x - (right - x > 4 ? 1 : 0), 1.2), height }, params.coordSys);
      if (!shape) return null;
      // A label that would be cut to next to nothing is left out: the tip has it.
      const fits = shape.width > 56 || Look.textWidth(bar.label) + 16 < shape.width;
      const text = fits && height > 9 ? bar.label : "";
      return {
        type: "rect", shape, style: { ...look.fill(bar.colour) },
        emphasis: { style: { stroke: look.get("ink"), lineWidth: 1.5 } },
        textConfig: { position: "insideLeft", distance: 4 },
        textContent: { style: { text, width: shape.width - 8, overflow: "truncate", fontSize: 11, fill: look.get("on-bar") } },
      };
    };
    return {
      type: "custom", name: panel.name, xAxisIndex: grid, yAxisIndex: grid, clip: true, renderItem: draw,
      encode: { x: [1, 2], y: 0 }, data: panel.bars.map(item), progressive: 0, animation: false,
    };
  }

  function marks(panel, grid, look) {
    return {
      type: "scatter", name: panel.name, xAxisIndex: grid, yAxisIndex: grid, symbol: "diamond", symbolSize: 11, animation: false,
      data: panel.marks.map((mark) => ({
        value: [mark.at, mark.lane], mark, cursor: "pointer",
        itemStyle: { color: look.get(mark.colour), borderColor: look.get("raised"), borderWidth: 1 },
      })),
    };
  }

  /* Storms and bursts, shaded through all panels; named above the first one. */
  function shades(data, grid, look, until) {
    return {
      type: "custom", xAxisIndex: grid, yAxisIndex: grid, silent: true, z: 0, animation: false, encode: { x: [0, 1] }, clip: true,
      data: data.bands.map((band) => [band.begin, band.end === null ? until : band.end, 0]),
      renderItem: (params, api) => {
        const band = data.bands[params.dataIndex];
        const x = api.coord([api.value(0), 0])[0];
        const width = Math.max(api.coord([api.value(1), 0])[0] - x, 2);
        const box = params.coordSys;
        const shape = echarts.graphic.clipRectByRect({ x, y: box.y - 4, width, height: box.height + 8 }, { ...box, y: box.y - 4, height: box.height + 8 });
        return shape && { type: "rect", shape, style: { fill: look.get(band.colour), opacity: Number(look.get("shade")) } };
      },
    };
  }

  function option(data, look, width) {
    const until = data.is_over ? data.last : Math.max(REPORT.until, data.last);
    const room = Math.max((until - data.since) * 0.005, 500);
    const left = width < 640 ? 96 : 190;
    const all = places(data.panels);
    const last = all.length - 1;
    const text = { color: look.get("pale"), fontSize: 11 };
    const line = { lineStyle: { color: look.get("line") } };
    return {
      useUTC: true, animation: false, backgroundColor: "transparent", textStyle: { fontFamily: "system-ui, sans-serif" },
      aria: { enabled: false },
      title: data.panels.map((panel, at) => ({
        text: panel.note ? `${panel.name}   {note|${panel.note}}` : panel.name, left: 10, top: all[at].top - 24,
        textStyle: { color: look.get("ink"), fontSize: 12, fontWeight: 600, rich: { note: { color: look.get("pale"), fontSize: 11 } } },
      })),
      grid: all.map((place) => ({ left, right: 18, top: place.top, height: place.height })),
      xAxis: all.map((_, at) => ({
        type: "time", gridIndex: at, min: data.since - room, max: until + room, axisLine: { show: at === last, ...line },
        axisTick: { show: at === last }, splitLine: { show: true, ...line },
        axisLabel: { show: at === last, hideOverlap: true, ...text, formatter: Look.axisTime(until - data.since) },
        axisPointer: { show: true, type: "line", snap: false, label: { show: at === last, formatter: (each) => Look.moment(each.value), backgroundColor: look.get("pale") },
          lineStyle: { color: look.get("pale"), type: "dashed" } },
      })),
      yAxis: data.panels.map((panel, at) => ({
        type: "category", gridIndex: at, inverse: true, data: panel.lanes, axisLine: { show: false }, axisTick: { show: false },
        axisLabel: { ...text, color: look.get("ink"), width: left - 20, overflow: "truncate", interval: 0 },
        axisPointer: { show: false },
      })),
      axisPointer: { link: [{ xAxisIndex: "all" }] },
      tooltip: {
        trigger: "item", confine: true, backgroundColor: look.get("raised"), borderColor: look.get("line"),
        textStyle: { color: look.get("ink") }, enterable: false, transitionDuration: 0,
        formatter: (params) => Look.tip((params.data.bar || params.data.mark || {}).tip || []),
      },
      dataZoom: [
        { type: "slider", xAxisIndex: all.map((_, at) => at), bottom: 10, height: 22, filterMode: "weakFilter", brushSelect: false,
          showDataShadow: false, borderColor: look.get("line"), textStyle: text, labelFormatter: (value) => Look.moment(value) },
        { type: "inside", xAxisIndex: all.map((_, at) => at), filterMode: "weakFilter", zoomOnMouseWheel: "ctrl",
          moveOnMouseWheel: false, moveOnMouseMove: true, preventDefaultMouseMove: true },
      ],
      series: data.panels.flatMap((panel, at) => [
        ...(data.bands.length ? [shades(data, at, look, until)] : []),
        ...(panel.bars.length ? [bars(panel, at, look, until)] : []),
        ...(panel.marks.length ? [marks(panel, at, look)] : []),
      ]),
    };
  }

  function legend(data) {
    const storm = data.bands.some((band) => band.colour === "storm") ? [["storm", "storm"]] : [];
    const burst = data.bands.some((band) => band.colour === "burst") ? [["burst of fencing errors", "burst"]] : [];
    const states = data.states.map((state) => [state, `state-${state}`]);
    const drawn = new Set(data.panels.flatMap((panel) => panel.bars.map((bar) => bar.colour.replace(/^owner-\d-\d-/, ""))));
    const ways = WAYS.filter(([, colour]) => drawn.has(colour)).map(([name, colour]) => [name, colour === "standby" ? "owner-0-0-standby" : colour]);
    return [...states, ["a rebalance", "rebalance"], ...storm, ...burst, ...ways, ...data.owners];
  }

  return { option, height, legend };
})();
