// Small makers of HTML and SVG elements. Text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function element(tag, className = "", text = "", attributes = {}) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function shape(tag, attributes, text = "", hint = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(name, value);
  if (text) made.textContent = text;
  if (hint) made.append(shape("title", {}, hint));
  return made;
}

function canvas(width, height) {
  return shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
}

// A sentence with **bold** parts.
function sentence(place, text) {
  place.replaceChildren(...text.split("**").map((part, i) => (i % 2 ? element("b", "", part) : document.createTextNode(part))));
}

function inWords(value, percent) {
  return percent ? `${(100 * value).toFixed(1)}%` : Number(value).toFixed(2);
}
