// A map that lies over the slide: a grid of tiles, each with a class and a probability; attention is kept for parts of
// tiles, `parts` along a side, on a scale whose middle is the average and whose ends are `octaves` doublings away.

const NOTHING = 255; // class of a cell that was left out
const FINE = 65535; // steps of a stored share
const ROOM = 18; // screen pixels along the side of a region that has room for its code

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const sharesOf = (text) => new Uint16Array(bytesOf(text).buffer);

class SlideMap {
  constructor(sent, ramps) {
    Object.assign(this, sent);
    this.classes = bytesOf(sent.classes);
    this.probability = sharesOf(sent.probability);
    this.attention = sharesOf(sent.attention);
    this.sets = sent.sets && new Uint32Array(bytesOf(sent.sets).buffer); // one bit for each class
    this.ramps = { probability: bytesOf(ramps.probability), attention: bytesOf(ramps.attention) };
    this.painted = new Map(); // layer → canvas of one pixel for each tile or part of one
  }

  // Values at a point of the slide; null outside the map and where a cell was left out.
  at(x, y) {
    const column = Math.floor(x / this.cell);
    const row = Math.floor(y / this.cell);
    if (column < 0 || row < 0 || column >= this.columns || row >= this.rows) return null;
    const index = row * this.columns + column;
    if (this.classes[index] === NOTHING) return null;
    const part = (value) => Math.floor((value / this.cell) * this.parts);
    return {
      name: this.names[this.classes[index]],
      colour: this.colours[this.classes[index]],
      probability: this.probability[index] / FINE,
      set: this.sets && this.names.filter((_, label) => (this.sets[index] >>> label) & 1),
      attention: 2 ** ((2 * this.attention[part(y) * this.columns * this.parts + part(x)] / FINE - 1) * this.octaves),
    };
  }

  canvas(layer) {
    if (!this.painted.has(layer)) this.painted.set(layer, this.paint(layer));
    return this.painted.get(layer);
  }

  paint(layer) {
    const parts = layer === "attention" ? this.parts : 1;
    const canvas = document.createElement("canvas");
    canvas.width = this.columns * parts;
    canvas.height = this.rows * parts;
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(canvas.width, canvas.height);
    const colours = this.colours.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
    for (let index = 0; index < canvas.width * canvas.height; index++) {
      const [row, column] = [Math.floor(index / canvas.width / parts), Math.floor((index % canvas.width) / parts)];
      const found = this.classes[row * this.columns + column];
      if (found === NOTHING) continue;
      const step = layer === "class" ? 0 : Math.round((this[layer][index] / FINE) * 255);
      const colour = layer === "class" ? [...colours[found], 255] : this.ramps[layer].subarray(4 * step, 4 * step + 4);
      pixels.data.set(colour, 4 * index);
    }
    context.putImageData(pixels, 0, 0);
    return canvas;
  }

  draw(context, view, layer, opacity) {
    const [left, top] = view.toScreen(0, 0);
    context.save();
    context.globalAlpha = opacity;
    context.imageSmoothingEnabled = false; // a blurred map would show values nobody computed
    const width = this.columns * this.cell * view.scale;
    context.drawImage(this.canvas(layer), left, top, width, this.rows * this.cell * view.scale);
    context.restore();
    if (layer !== "class" || opacity === 0) return;
    this.drawOutlines(context, view);
    this.drawCodes(context, view);
  }

  // A line around the tiles of each class, so that the fill can be faint and the tissue below it read.
  drawOutlines(context, view) {
    this.outlines ??= this.traceOutlines();
    const [left, top] = view.toScreen(0, 0);
    const cell = this.cell * view.scale;
    context.save();
    context.translate(left, top);
    context.scale(cell, cell);
    for (const [index, outline] of this.outlines) {
      context.lineWidth = Math.min(2.5, 0.16 * cell) / cell;
      context.strokeStyle = this.colours[index];
      context.stroke(outline);
    }
    context.restore();
  }

  // Class → path in units of tiles, a little inside, beside the line of the neighbouring class.
  traceOutlines() {
    const inside = 0.05;
    const outlines = new Map();
    const found = (row, column) =>
      row < 0 || column < 0 || row >= this.rows || column >= this.columns ? NOTHING : this.classes[row * this.columns + column];
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        const index = found(row, column);
        if (index === NOTHING) continue;
        if (!outlines.has(index)) outlines.set(index, new Path2D());
        const [x0, y0, x1, y1] = [column + inside, row + inside, column + 1 - inside, row + 1 - inside];
        const sides = [[row - 1, column, x0, y0, x1, y0], [row + 1, column, x0, y1, x1, y1], [row, column - 1, x0, y0, x0, y1], [row, column + 1, x1, y0, x1, y1]];
        for (const [r, c, fromX, fromY, toX, toY] of sides) {
          if (found(r, c) === index) continue;
          outlines.get(index).moveTo(fromX, fromY);
          outlines.get(index).lineTo(toX, toY);
        }
      }
    }
    return outlines;
  }

  // Colour alone tells a dozen classes apart to nobody: each region with room for it carries the code of its class.
  drawCodes(context, view) {
    context.font = "600 12px sans-serif";
    for (const [row, column, index, cells] of this.marks) {
      if (Math.sqrt(cells) * this.cell * view.scale < ROOM) continue;
      const code = this.codes[index];
      const [px, py] = view.toScreen((column + 0.5) * this.cell, (row + 0.5) * this.cell);
      label(context, code, px - context.measureText(code).width / 2, py + 4);
    }
  }
}
