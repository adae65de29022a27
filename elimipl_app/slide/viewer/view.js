// Where a person looks: the point of the slide in the middle of a pane, and screen pixels per slide pixel.
// "Slide pixels" are those of level 0, "screen pixels" are CSS pixels.

const DEEPEST = 8; // screen pixels that a slide pixel may take

class View {
  constructor(slide) {
    this.slide = slide;
    this.x = slide.width / 2;
    this.y = slide.height / 2;
    this.scale = 0; // not yet fitted
    this.size = { width: 1, height: 1 };
  }

  get fitting() {
    return Math.min(this.size.width / this.slide.width, this.size.height / this.slide.height);
  }

  resize(width, height) {
    const fitted = this.scale === 0 || Math.abs(this.scale / this.fitting - 1) < 1e-6;
    this.size = { width, height };
    if (fitted) this.fit();
    else this.clamp();
  }

  fit() {
    this.scale = this.fitting;
    this.x = this.slide.width / 2;
    this.y = this.slide.height / 2;
  }

  // Zoom by a factor and keep the slide's point under the screen point (px, py).
  zoom(factor, px = this.size.width / 2, py = this.size.height / 2) {
    const [x, y] = this.toSlide(px, py);
    const lowest = Math.min(this.fitting, 1);
    this.scale = Math.min(DEEPEST, Math.max(lowest, this.scale * factor));
    this.x = x - (px - this.size.width / 2) / this.scale;
    this.y = y - (py - this.size.height / 2) / this.scale;
    this.clamp();
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.clamp();
  }

  moveTo(x, y) {
    this.x = x;
    this.y = y;
    this.clamp();
  }

  // The middle of the pane stays on the slide, or the whole of a side that fits stays in view.
  clamp() {
    for (const [axis, side, extent] of [["x", "width", this.slide.width], ["y", "height", this.slide.height]]) {
      if (extent * this.scale <= this.size[side]) this[axis] = extent / 2;
      else this[axis] = Math.min(extent, Math.max(0, this[axis]));
    }
  }

  toSlide(px, py) {
    return [this.x + (px - this.size.width / 2) / this.scale, this.y + (py - this.size.height / 2) / this.scale];
  }

  toScreen(x, y) {
    return [(x - this.x) * this.scale + this.size.width / 2, (y - this.y) * this.scale + this.size.height / 2];
  }

  // What of the slide is in view: left, top, right, bottom in slide pixels.
  get visible() {
    const [left, top] = this.toSlide(0, 0);
    const [right, bottom] = this.toSlide(this.size.width, this.size.height);
    return [Math.max(0, left), Math.max(0, top), Math.min(this.slide.width, right), Math.min(this.slide.height, bottom)];
  }
}
