// Sliders above panels. Everything that can be seen was sent at once; only where a person stops goes back.

const SETTLED = 300; // ms after the last change
const FRAME = 110; // ms of a frame while playing
const LONGEST_PLAY = 6000;

class Moving {
  constructor(parent) {
    this.root = element("div", "moving", "", { role: "group" });
    parent.append(this.root);
    this.at = {};
    this.observer = new ResizeObserver(() => this.draw());
  }

  // Called with every run of the page; a slider that is being moved stays where the person has it.
  update({ data, setTriggerValue }) {
    const same = JSON.stringify(this.data?.panels) === JSON.stringify(data.panels) && JSON.stringify(this.names) === JSON.stringify(data.sliders.map((s) => [s.key, s.titles.length]));
    this.data = data;
    this.send = setTriggerValue;
    this.names = data.sliders.map((slider) => [slider.key, slider.titles.length]);
    if (!this.waiting && !this.playing) for (const slider of data.sliders) this.at[slider.key] = slider.at;
    for (const slider of data.sliders) this.at[slider.key] = Math.min(this.at[slider.key] ?? slider.at, slider.titles.length - 1);
    if (!same) this.build();
    this.root.setAttribute("aria-label", data.alt);
    this.showSliders();
    this.draw();
  }

  build() {
    this.observer.disconnect();
    this.stop(false);
    const bar = element("div", "sliders");
    this.inputs = this.data.sliders.map((slider) => this.buildSlider(slider, bar));
    const row = element("div", "panels");
    const below = element("div", "below");
    this.places = this.data.panels.map((panel) => {
      const place = element("div", `panel ${panel.kind}`);
      if (panel.weight) place.style.flexGrow = panel.weight;
      (panel.weight ? row : below).append(place);
      if (panel.kind === "words") return { panel, place, plot: place };
      if (panel.title) sentence(place.appendChild(element("div", "title")), panel.title);
      const legend = element("div", "legend");
      for (const [name, colour, dash] of legendOf(panel)) {
        const entry = element("span", "entry");
        if (colour) entry.append(element("span", `swatch ${dash ? "dashed" : ""}`, "", { style: `--colour: ${colour}` }));
        entry.append(document.createTextNode(name));
        legend.append(entry);
      }
      if (legend.children.length) place.append(legend);
      const plot = element("div", "plot");
      place.append(plot);
      return { panel, place, plot };
    });
    this.root.replaceChildren(bar, row, below);
    this.observer.observe(row);
  }

  buildSlider(slider, bar) {
    const place = element("div", "slider");
    const name = element("span", "name", slider.label);
    const value = element("output", "stands");
    const last = slider.titles.length - 1;
    const input = element("input", "", "", { type: "range", min: 0, max: last, step: 1, "aria-label": slider.label });
    const head = element("label", "head");
    head.append(name, value);
    place.append(head);
    const line = element("div", "line");
    if (slider.plays) {
      const play = element("button", "play", "", { type: "button" });
      play.onclick = () => (this.playing === slider.key ? this.stop(true) : this.play(slider.key, last));
      line.append(play);
      this.playButton = play;
    }
    line.append(input);
    place.append(line);
    bar.append(place);
    input.oninput = () => {
      this.at[slider.key] = Number(input.value);
      this.stop(false);
      clearTimeout(this.waiting);
      this.waiting = -1; // being moved: nothing is sent
      this.showSliders();
      this.draw();
    };
    input.onchange = () => this.settle();
    input.onpointerup = () => this.waiting === -1 && this.settle(); // no change where it came back to its place
    return { slider, input, value };
  }

  play(key, last) {
    this.stop(false);
    if (this.at[key] >= last) this.at[key] = 0;
    this.playing = key;
    const stride = Math.max(1, Math.round(last / (LONGEST_PLAY / FRAME)));
    this.timer = setInterval(() => {
      this.at[key] = Math.min(last, this.at[key] + stride);
      if (this.at[key] >= last) this.stop(true);
      this.showSliders();
      this.draw();
    }, Math.max(FRAME, Math.min(500, 3000 / last)));
    this.showSliders();
  }

  stop(tell) {
    clearInterval(this.timer);
    const played = this.playing;
    this.playing = null;
    if (played && tell) this.settle();
    if (this.inputs) this.showSliders();
  }

  settle() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.send("moved", { ...this.at });
    }, SETTLED);
  }

  showSliders() {
    for (const { slider, input, value } of this.inputs ?? []) {
      const at = this.at[slider.key];
      input.value = at;
      value.textContent = slider.titles[at];
      input.setAttribute("aria-valuetext", slider.titles[at]);
    }
    if (this.playButton) {
      const { words } = this.data;
      const word = this.playing ? words.pause : words.play;
      this.playButton.textContent = this.playing ? "❚❚" : "▶";
      this.playButton.title = word;
      this.playButton.setAttribute("aria-label", word);
    }
  }

  end() {
    this.stop(false);
    clearTimeout(this.waiting);
    this.observer.disconnect();
    this.root.remove();
  }

  position(panel) {
    let position = 0;
    for (const key of panel.over) {
      const slider = this.data.sliders.find((one) => one.key === key);
      position = position * slider.titles.length + this.at[key];
    }
    return position;
  }

  draw() {
    for (const { panel, plot } of this.places ?? []) {
      const at = this.position(panel);
      if (panel.kind === "words") {
        sentence(plot, panel.lines[at]);
        plot.classList.toggle("alarm", Boolean(panel.alarm?.[at]));
        continue;
      }
      const width = Math.floor(plot.getBoundingClientRect().width);
      if (width > 40) plot.replaceChildren(DRAW[panel.kind](panel, at, width, this.data.colours, this.at[panel.chosen_by]));
    }
    this.root.dataset.at = Object.values(this.at).join(" ");
  }
}

const shown = new WeakMap();

export default function (component) {
  const parent = component.parentElement;
  if (!shown.has(parent)) shown.set(parent, new Moving(parent));
  const moving = shown.get(parent);
  moving.update(component);
  return () => {
    moving.end();
    shown.delete(parent);
  };
}
