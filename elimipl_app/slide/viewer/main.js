// One or two panes that show the same place of a slide. Python sends what to show; a click and a drawn region go back.

const PICKED_COLOUR = "#D81B60";

class Viewer {
  constructor(parent) {
    this.root = element("div", "viewer");
    parent.append(this.root);
    this.panes = [];
    this.layer = "class";
    this.opacities = { class: 0.2, probability: 0.5, attention: 0.5 }; // classes have outlines, too
    this.picked = null;
    this.observer = new ResizeObserver(() => this.resize());
    this.drawing = new Drawing((ring) => {
      this.useTool("move");
      this.send("drawn", { ring, slide: this.data.slide.id });
    });
  }

  // Called with every run of the page; the view stays unless the slide is another.
  update({ data, setTriggerValue }) {
    const before = this.data;
    this.data = data;
    this.send = setTriggerValue;
    const another = before?.slide.tiles !== data.slide.tiles || before?.slide.microns !== data.slide.microns;
    if (another) this.open(data.slide);
    if (JSON.stringify(before?.maps) !== JSON.stringify(data.maps)) {
      this.maps = data.maps.map((sent) => new SlideMap(sent, data.ramps));
    }
    if (JSON.stringify(before?.panes) !== JSON.stringify(data.panes)) this.build();
    else if (another) this.resize();
    this.showChoices();
    this.changed();
  }

  open(slide) {
    this.tiles?.end();
    this.view = new View(slide);
    this.tiles = new Tiles(slide, () => this.changed());
    const kept = sessionStorage.getItem(this.memory);
    const [x, y, scale] = kept ? JSON.parse(kept) : [];
    if (scale > 0) Object.assign(this.view, { x, y, scale });
    this.pick(null);
  }

  get memory() {
    return `slide view ${this.data.slide.id}`;
  }

  build() {
    const { words, panes } = this.data;
    this.observer.disconnect();
    this.bar = element("div", "bar");
    const button = (sign, title, verb) => {
      const made = element("button", "sign", sign, { type: "button", title, "aria-label": title });
      made.onclick = () => {
        verb();
        this.changed();
      };
      return made;
    };
    const zoom = element("div", "group");
    zoom.append(
      button("−", words.zoomOut, () => this.view.zoom(1 / 2)),
      button("+", words.zoomIn, () => this.view.zoom(2)),
      button("⤢", words.fit, () => this.view.fit()),
    );
    this.tools = choice(words.tools, TOOLS, words, (name) => this.useTool(name));
    this.layers = choice(words.layers, LAYERS, words, (name) => this.show(name));
    this.slider = element("input", "opacity", "", { type: "range", min: 0, max: 100, "aria-label": words.opacity, title: words.opacity });
    this.slider.oninput = () => {
      this.opacities[this.layer] = this.slider.value / 100;
      this.changed();
    };
    this.bar.append(zoom, this.tools, this.layers, this.slider);
    const row = element("div", "panes");
    this.panes = panes.map((about) => this.buildPane(about, row));
    this.values = element("div", "values");
    this.legend = element("div", "legend");
    this.card = element("div", "card", "", { role: "dialog", "aria-label": words.picked });
    this.card.hidden = true;
    this.panes[0].frame.append(this.card);
    this.root.replaceChildren(this.bar, this.legend, row, this.values);
    this.observer.observe(row);
    this.resize();
  }

  buildPane({ title, map }, row) {
    const frame = element("div", "frame");
    const canvas = element("canvas", "pane", "", { tabindex: 0, role: "img", "aria-label": `${title}. ${this.data.words.keys}` });
    const pane = { frame, canvas, map, context: canvas.getContext("2d", { alpha: false }) };
    frame.append(canvas, element("div", "title", title));
    row.append(frame);
    new Pointing(canvas, this);
    return pane;
  }

  showChoices() {
    const { words, ramps } = this.data;
    const mapped = this.maps.length > 0;
    this.layers.hidden = this.slider.hidden = !mapped;
    this.slider.disabled = this.layer === "none";
    this.slider.value = 100 * (this.opacities[this.layer] ?? 0);
    press(this.tools, this.drawing.tool);
    press(this.layers, this.layer);
    fillLegend(this.legend, this.maps[0], this.layer, ramps, words);
  }

  useTool(name) {
    this.drawing.use(name);
    this.pick(null);
    this.root.dataset.tool = name;
    this.showChoices();
    this.changed();
  }

  show(layer) {
    this.layer = layer;
    this.showChoices();
    this.changed();
  }

  toggle() {
    [this.layer, this.hiddenLayer] = this.layer === "none" ? [this.hiddenLayer ?? "class", null] : ["none", this.layer];
    this.showChoices();
  }

  hover(x, y) {
    this.pointer = [x, y];
    const { slide, words } = this.data;
    const on = x >= 0 && y >= 0 && x <= slide.width && y <= slide.height;
    const lines = on ? [placeInWords(x, y, slide.microns), ...valuesAt(this.maps, x, y, words)] : [];
    this.values.textContent = lines.join("   |   ");
  }

  leave() {
    this.pointer = null;
    this.changed();
  }

  // The field around a point, moved to lie on the slide; null closes the card. Who came by keys goes on by keys.
  pick(x, y, byKeys = false) {
    const { slide, words } = this.data;
    const outside = x === null || x < 0 || y < 0 || x > slide.width || y > slide.height;
    this.picked = null;
    if (this.card) this.card.hidden = true;
    if (outside) return;
    const size = Math.min(slide.field, slide.width, slide.height);
    const corner = (at, length) => Math.round(Math.min(length - size, Math.max(0, at - size / 2)));
    this.picked = { x: corner(x, slide.width), y: corner(y, slide.height), size };
    const open = element("button", "open", words.open, { type: "button" });
    open.onclick = () => this.send("opened", { x: this.picked.x, y: this.picked.y, slide: slide.id });
    const shut = element("button", "sign", "×", { type: "button", "aria-label": words.close });
    shut.onclick = () => {
      this.pick(null);
      this.changed();
    };
    const lines = [placeInWords(x, y, slide.microns), ...valuesAt(this.maps, x, y, words, true)];
    this.card.replaceChildren(shut, ...lines.map((line) => element("div", "line", line)), open);
    this.card.hidden = false;
    if (byKeys) open.focus();
  }

  resize() {
    const sharp = window.devicePixelRatio;
    for (const { canvas } of this.panes) {
      const { width, height } = canvas.getBoundingClientRect();
      if (width === 0) return;
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      this.view.resize(width, height);
    }
    this.draw(); // at once: a resized canvas is empty
  }

  changed() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.backdrop = getComputedStyle(this.root).getPropertyValue("--st-secondary-background-color") || "#DDD8E0";
    const missing = this.panes.map((pane) => this.drawPane(pane))[0] ?? [];
    this.tiles.want(missing, this.view);
    const { x, y, scale } = this.view;
    if (scale > 0) sessionStorage.setItem(this.memory, JSON.stringify([x, y, scale]));
    Object.assign(this.root.dataset, { x, y, scale, level: this.tiles.levelFor(scale), idle: this.tiles.idle });
  }

  drawPane({ context, map }) {
    const { view, data } = this;
    const sharp = window.devicePixelRatio;
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.fillStyle = this.backdrop;
    context.fillRect(0, 0, view.size.width, view.size.height);
    context.save();
    path(context, view, [boxRing(0, 0, data.slide.width, data.slide.height)]);
    context.clip(); // tiles at the edge reach beyond it
    context.fillStyle = "#FFFFFF";
    context.fillRect(0, 0, view.size.width, view.size.height);
    const missing = this.tiles.draw(context, view);
    if (map !== null && this.layer !== "none") this.maps[map].draw(context, view, this.layer, this.opacities[this.layer]);
    context.restore();
    drawRegions(context, view, data.regions, data.colours.region);
    this.drawing.draw(context, view, PICKED_COLOUR);
    if (this.picked) drawField(context, view, this.picked, PICKED_COLOUR);
    if (this.pointer && this.panes.length > 1) this.drawCross(context);
    this.inset = drawInset(context, view, this.tiles, PICKED_COLOUR);
    drawScaleBar(context, view, data.words);
    if (this.tiles.troubled) label(context, data.words.gone, 12, view.size.height / 2);
    return missing;
  }

  // The same place in both panes.
  drawCross(context) {
    const [px, py] = this.view.toScreen(...this.pointer);
    context.beginPath();
    context.moveTo(px - 8, py);
    context.lineTo(px + 8, py);
    context.moveTo(px, py - 8);
    context.lineTo(px, py + 8);
    stroke(context, "#1F1B24", 1);
  }

  end() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.tiles?.end();
    this.root.remove();
  }
}

const viewers = new WeakMap();

export default function (component) {
  const parent = component.parentElement;
  if (!viewers.has(parent)) viewers.set(parent, new Viewer(parent));
  viewers.get(parent).update(component);
  return () => {
    viewers.get(parent)?.end();
    viewers.delete(parent);
  };
}
