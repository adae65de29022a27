// One function for each kind of panel: it draws the panel at one position into a fresh SVG.

const ROW = 25;
const SMALLEST_ARROW = 0.002;
const DASHES = { dash: "9 6", dot: "2 5", dashdot: "9 5 2 5", longdash: "14 6", "": null };

function drawBars(panel, at, width, colours) {
  const { names, values, ends, framed } = panel;
  const left = Math.min(150, 16 + 7.4 * Math.max(...names.map((name) => name.length)));
  const room = width - left - (ends ? 150 : 96);
  const svg = canvas(width, names.length * ROW + 26);
  const x = (value) => left + (room * Math.min(value, panel.highest)) / panel.highest;
  for (const share of [0, 0.5, 1]) {
    const value = share * panel.highest;
    svg.append(shape("line", { x1: x(value), x2: x(value), y1: 0, y2: names.length * ROW, stroke: colours.grid }));
    svg.append(shape("text", { x: x(value), y: names.length * ROW + 18, class: "tick", "text-anchor": "middle" }, panel.percent ? `${100 * value}%` : `${value}`));
  }
  names.forEach((name, i) => {
    const value = values[at][i];
    const middle = (i + 0.5) * ROW;
    svg.append(shape("text", { x: left - 8, y: middle + 4, "text-anchor": "end" }, name));
    const stroke = i === framed ? colours.text : "none";
    svg.append(shape("rect", { x: left, y: middle - 8, width: Math.max(0.5, x(value) - left), height: 16, fill: panel.colours[i], stroke, "stroke-width": 2.5 }, "", `${name}: ${inWords(value, panel.percent)}`));
    const tag = i === framed ? ` ◀ ${panel.framed_as}` : "";
    if (!ends) return svg.append(shape("text", { x: x(value) + 7, y: middle + 4, class: "value" }, inWords(value, panel.percent) + tag));
    const end = ends[at][i];
    if (Math.abs(end - value) >= SMALLEST_ARROW) svg.append(arrow(x(value), x(end), middle, colours.chosen));
    svg.append(shape("text", { x: width - 2, y: middle + 4, class: "value", "text-anchor": "end" }, `${inWords(value, true)} → ${inWords(end, true)}${i === framed ? " ◀" : ""}`));
  });
  return svg;
}

function arrow(from, to, y, colour) {
  const head = Math.sign(to - from) * Math.min(8, Math.abs(to - from));
  return shape("path", { d: `M${from} ${y}H${to - head}M${to - head} ${y - 5}L${to} ${y}L${to - head} ${y + 5}`, stroke: colour, "stroke-width": 3, fill: "none" });
}

function drawColumns(panel, at, width, colours, chosen) {
  const { values, highest, height } = panel;
  const svg = canvas(width, height);
  const [left, bottom] = [44, height - 34];
  const step = (width - left - 6) / values[at].length;
  const y = (value) => bottom - ((bottom - 12) * Math.min(value, highest)) / highest;
  for (const share of [0, 0.5, 1]) {
    svg.append(shape("line", { x1: left, x2: width, y1: y(share * highest), y2: y(share * highest), stroke: colours.grid }));
    svg.append(shape("text", { x: left - 6, y: y(share * highest) + 4, class: "tick", "text-anchor": "end" }, (share * highest).toFixed(2)));
  }
  values[at].forEach((value, i) => {
    const stroke = chosen === i ? colours.chosen : "none";
    svg.append(shape("rect", { x: left + i * step + 0.12 * step, y: y(value), width: 0.76 * step, height: Math.max(0, bottom - y(value)), fill: panel.colours[i], stroke, "stroke-width": 3 }, "", `${panel.axis} ${i}: ${value}`));
    const every = values[at].length <= 12 ? 1 : 5;
    if (i % every === 0) svg.append(shape("text", { x: left + (i + 0.5) * step, y: bottom + 14, class: "tick", "text-anchor": "middle" }, `${i}`));
  });
  if (panel.line !== null) {
    svg.append(shape("line", { x1: left, x2: width, y1: y(panel.line), y2: y(panel.line), stroke: colours.text, "stroke-dasharray": "2 4", "stroke-width": 1.6, class: "even" }));
    svg.append(shape("text", { x: width - 3, y: y(panel.line) - 5, class: "tick note", "text-anchor": "end" }, panel.line_name));
  }
  svg.append(shape("text", { x: (left + width) / 2, y: height - 4, class: "tick", "text-anchor": "middle" }, panel.axis));
  return svg;
}

function drawLines(panel, at, width, colours) {
  const { x: places, series, height, highest } = panel;
  const svg = canvas(width, height);
  const [left, bottom, right] = [50, height - 36, width - 12];
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const x = (value) => left + ((right - left) * (value - low)) / (high - low || 1);
  const y = (value) => bottom - ((bottom - 10) * value) / (1.02 * highest);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const value = share * highest;
    svg.append(shape("line", { x1: left, x2: right, y1: y(value), y2: y(value), stroke: colours.grid }));
    svg.append(shape("text", { x: left - 10, y: y(value) + 4, class: "tick", "text-anchor": "end" }, panel.percent ? `${100 * value}%` : value.toFixed(2)));
  }
  const every = Math.ceil(places.length / 7);
  places.forEach((place, i) => i % every === 0 && svg.append(shape("text", { x: x(place), y: bottom + 15, class: "tick", "text-anchor": "middle" }, `${place}`)));
  svg.append(shape("text", { x: (left + right) / 2, y: height - 4, class: "tick", "text-anchor": "middle" }, panel.x_title));
  svg.append(shape("line", { x1: x(places[at]), x2: x(places[at]), y1: 6, y2: bottom, stroke: colours.muted, "stroke-dasharray": "3 3", class: "here" }));
  if (panel.level !== null) {
    svg.append(shape("line", { x1: left, x2: right, y1: y(panel.level), y2: y(panel.level), stroke: colours.text, "stroke-dasharray": "2 4" }));
    svg.append(shape("text", { x: left + 8, y: y(panel.level) - 5, class: "tick note" }, panel.level_name));
  }
  for (const one of series) {
    const points = one.values.map((value, i) => (value === null ? null : [x(places[i]), y(value), i]));
    const look = { stroke: one.colour, fill: "none", "stroke-width": one.width, "stroke-dasharray": DASHES[one.dash] };
    if (panel.ahead && !one.hollow) svg.append(shape("path", { d: path(points), ...look, opacity: 0.22 }));
    if (!one.hollow) svg.append(shape("path", { d: path(points.slice(0, at + 1)), ...look, class: "drawn" }));
    for (const [px, py, i] of points.slice(0, at + 1).filter(Boolean)) {
      if (one.spread) svg.append(shape("line", { x1: px, x2: px, y1: y(one.values[i] - one.spread[i]), y2: y(one.values[i] + one.spread[i]), stroke: one.colour }));
      if (one.marks || i === at) svg.append(shape("circle", { cx: px, cy: py, r: one.hollow ? 7 : 4.5, fill: one.hollow ? "none" : one.colour, stroke: one.colour, "stroke-width": 2 }, "", `${one.name}: ${inWords(one.values[i], panel.percent)}`));
    }
  }
  if (panel.star) svg.append(shape("text", { x: x(panel.star[0]), y: y(panel.star[1]) + 8, "text-anchor": "middle", class: "star", fill: colours.chosen }, "★", panel.star[2]));
  return svg;
}

function path(points) {
  return points.map((point, i) => (point ? `${i && points[i - 1] ? "L" : "M"}${point[0]} ${point[1]}` : "")).join("");
}

function drawPicture(panel, at, width) {
  const shown = Math.min(width, 330);
  const svg = shape("svg", { width: shown, height: (shown * panel.height) / panel.width, viewBox: `0 0 ${panel.width} ${panel.height}`, "aria-hidden": "true" });
  svg.append(shape("image", { href: panel.source, width: panel.width, height: panel.height }));
  panel.regions.forEach((rings, i) => {
    const d = rings.map((ring) => `M${ring.map((point) => point.join(" ")).join("L")}Z`).join("");
    const value = Math.min(1, panel.values[at][i] / panel.highest);
    svg.append(shape("path", { d, fill: `rgba(253, 231, 37, ${(0.75 * value).toFixed(3)})`, stroke: panel.colours[i], "stroke-width": panel.width / 170, "fill-rule": "evenodd" }, "", `instance ${i}: ${panel.values[at][i]}`));
  });
  return svg;
}

const DRAW = { bars: drawBars, columns: drawColumns, lines: drawLines, picture: drawPicture };

function legendOf(panel) {
  if (panel.kind === "lines") return [...panel.series.map((one) => [one.name, one.colour, one.dash]), ...(panel.star ? [[`★ ${panel.star[2]}`, null, ""]] : [])];
  return (panel.legend ?? []).map(([name, colour]) => [name, colour, ""]);
}
