// The buttons above the panes, the legend, and what is said about the place under the pointer.

const LAYERS = ["none", "class", "probability", "attention"];
const TOOLS = ["move", "box", "polygon"];

function element(kind, className, text = "", facts = {}) {
  const made = document.createElement(kind);
  made.className = className;
  made.textContent = text; // never HTML: names come from files
  for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
  return made;
}

// A row of buttons of which one is pressed.
function choice(label, names, words, chosen) {
  const group = element("div", "group", "", { role: "group", "aria-label": label });
  for (const name of names) {
    const button = element("button", "choice", words[name], { type: "button", "data-name": name, "aria-pressed": "false" });
    button.onclick = () => chosen(name);
    group.append(button);
  }
  return group;
}

function press(group, name) {
  for (const button of group.children) button.setAttribute("aria-pressed", String(button.dataset.name === name));
}

const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

const times = (value) => `${Number(value.toPrecision(2))} ×`;

// What the maps say about a point, one line for each map; `all` adds the label set.
function valuesAt(maps, x, y, words, all = false) {
  return maps.map((map) => {
    const found = map.at(x, y);
    const title = maps.length > 1 ? `${map.title}: ` : "";
    if (!found) return title + words.leftOut;
    const set = all && found.set ? ` · ${words.labelSet} ${found.set.join(", ")}` : "";
    const attention = `${words.attention} ${times(found.attention)}`;
    return `${title}${found.name} ${percent(found.probability)} · ${attention}${set}`;
  });
}

function placeInWords(x, y, microns) {
  if (!microns) return `x ${Math.round(x)}, y ${Math.round(y)} px`;
  const mm = (value) => ((value * microns) / 1000).toFixed(2);
  return `x ${mm(x)}, y ${mm(y)} mm`;
}

function fillLegend(legend, map, layer, ramps, words) {
  legend.replaceChildren();
  if (!map || layer === "none") return;
  if (layer === "class") {
    const seen = new Set(map.classes);
    map.names.forEach((name, index) => {
      if (!seen.has(index)) return;
      const entry = element("span", "entry", name === map.codes[index] ? name : `${map.codes[index]} · ${name}`);
      const colour = element("i", "swatch");
      colour.style.background = map.colours[index];
      entry.prepend(colour);
      legend.append(entry);
    });
    return;
  }
  const steps = bytesOf(ramps[layer]);
  const colours = [0, 32, 64, 96, 127, 159, 191, 223, 255].map((step) => {
    const [red, green, blue, alpha] = steps.subarray(4 * step, 4 * step + 4);
    return `rgba(${red},${green},${blue},${alpha / 255}) ${step / 2.55}%`;
  });
  const bar = element("i", "ramp");
  bar.style.background = `linear-gradient(to right, ${colours.join(",")})`;
  const reach = 2 ** map.octaves;
  const [least, most] = layer === "probability" ? ["0", "1"] : [times(1 / reach), times(reach)];
  const [from, to] = [element("span", "entry", least), element("span", "entry", most)];
  legend.append(element("span", "entry", words[layer]), from, bar, to);
  if (layer === "attention") legend.append(element("span", "entry", words.average));
}
