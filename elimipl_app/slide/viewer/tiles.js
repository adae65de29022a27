// The slide's tiles: asked for when they come into view, decoded beside the page, the oldest forgotten.

const MOST_TILES = 360; // 256 KB each when decoded
const AT_ONCE = 6; // requests on their way
const RETRY_AFTER = 4000; // ms until a tile that could not be got is asked for again

class Tiles {
  constructor(slide, changed) {
    this.slide = slide;
    this.changed = changed;
    this.kept = new Map(); // name → bitmap, least recently used first
    this.asked = new Map(); // name → AbortController
    this.failed = new Map(); // name → time
    this.wanted = [];
  }

  // The level whose pixels are at least as fine as the screen's; a quarter of a step coarser saves many tiles.
  levelFor(scale) {
    const coarser = Math.floor(Math.log2(1 / (scale * window.devicePixelRatio)) + 0.25);
    return Math.min(this.slide.levels - 1, Math.max(0, coarser));
  }

  draw(context, view) {
    const level = this.levelFor(view.scale);
    const span = this.slide.tile * 2 ** level;
    const [left, top, right, bottom] = view.visible;
    const missing = [];
    for (let row = Math.floor(top / span); row * span < bottom; row++) {
      for (let column = Math.floor(left / span); column * span < right; column++) {
        if (!this.drawTile(context, view, level, column, row)) missing.push([level, column, row]);
      }
    }
    return missing;
  }

  // One tile, or the part of a coarser one that lies at its place; true when it was the tile itself.
  drawTile(context, view, level, column, row) {
    for (let up = 0; level + up < this.slide.levels; up++) {
      const bitmap = this.take(`${level + up}/${column >> up}_${row >> up}`);
      if (!bitmap) continue;
      const share = this.slide.tile / 2 ** up;
      const fromX = (column - ((column >> up) << up)) * share;
      const fromY = (row - ((row >> up) << up)) * share;
      const span = this.slide.tile * 2 ** level;
      const [left, top] = view.toScreen(column * span, row * span).map(onPixel);
      const [right, bottom] = view.toScreen((column + 1) * span, (row + 1) * span).map(onPixel);
      context.drawImage(bitmap, fromX, fromY, share, share, left, top, right - left, bottom - top);
      return up === 0;
    }
    return false;
  }

  take(name) {
    const bitmap = this.kept.get(name);
    if (bitmap) {
      this.kept.delete(name);
      this.kept.set(name, bitmap);
    }
    return bitmap;
  }

  // Get what is missing in view, the middle first; what nobody looks at any more is not waited for.
  want(missing, view) {
    const root = [this.slide.levels - 1, 0, 0];
    const distance = ([level, column, row]) => {
      const span = this.slide.tile * 2 ** level;
      return Math.hypot((column + 0.5) * span - view.x, (row + 0.5) * span - view.y);
    };
    missing.sort((one, other) => distance(one) - distance(other));
    const names = [root, ...missing].map(([level, column, row]) => `${level}/${column}_${row}`);
    this.wanted = names.filter((name) => !this.kept.has(name));
    for (const [name, request] of this.asked) if (!this.wanted.includes(name)) request.abort();
    this.ask();
  }

  ask() {
    for (const name of this.wanted) {
      if (this.asked.size >= AT_ONCE) return;
      const waiting = performance.now() - (this.failed.get(name) ?? -Infinity) < RETRY_AFTER;
      if (!waiting && !this.asked.has(name) && !this.kept.has(name)) this.get(name);
    }
  }

  async get(name) {
    const request = new AbortController();
    this.asked.set(name, request);
    try {
      const answer = await fetch(`${this.slide.tiles}/${name}.jpg`, { signal: request.signal });
      if (!answer.ok) throw new Error(String(answer.status));
      this.keep(name, await createImageBitmap(await answer.blob()));
    } catch (error) {
      if (error.name !== "AbortError") {
        this.failed.set(name, performance.now());
        setTimeout(this.changed, RETRY_AFTER + 100);
      }
    } finally {
      this.asked.delete(name);
    }
    this.changed();
    this.ask();
  }

  keep(name, bitmap) {
    this.failed.delete(name);
    this.kept.set(name, bitmap);
    for (const [oldest, old] of this.kept) {
      if (this.kept.size <= MOST_TILES) break;
      if (oldest === `${this.slide.levels - 1}/0_0`) continue;
      this.kept.delete(oldest);
      old.close();
    }
  }

  get whole() {
    return this.take(`${this.slide.levels - 1}/0_0`);
  }

  // Whether something in view could not be got.
  get troubled() {
    return this.wanted.some((name) => this.failed.has(name));
  }

  get idle() {
    return this.asked.size === 0 && this.wanted.every((name) => this.kept.has(name));
  }

  end() {
    this.changed = () => {};
    this.wanted = [];
    for (const request of this.asked.values()) request.abort();
    for (const bitmap of this.kept.values()) bitmap.close();
    this.kept.clear();
  }
}

// Neighbours meet on a pixel of the screen, so that no seam shows between them.
const onPixel = (value) => Math.round(value * window.devicePixelRatio) / window.devicePixelRatio;
