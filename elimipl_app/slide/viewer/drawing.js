// Regions while they are drawn: a box by dragging, a polygon by clicking its corners.

const CLOSE_ENOUGH = 12; // screen pixels from the first corner that close a polygon

class Drawing {
  constructor(done) {
    this.done = done;
    this.tool = "move";
    this.corners = [];
    this.end = null; // where the pointer is: the other corner of a box, the next one of a polygon
  }

  use(tool) {
    this.tool = tool;
    this.cancel();
  }

  cancel() {
    this.corners = [];
    this.end = null;
  }

  startBox(point) {
    this.corners = [point];
    this.end = point;
  }

  finishBox() {
    const [[left, top], [right, bottom]] = [this.corners[0], this.end];
    this.cancel();
    if (left !== right && top !== bottom) this.done(boxRing(left, top, right, bottom));
  }

  // A click of the polygon tool.
  add(point, view) {
    if (this.corners.length >= 3) {
      const [ax, ay] = view.toScreen(...this.corners[0]);
      const [bx, by] = view.toScreen(...point);
      if (Math.hypot(ax - bx, ay - by) < CLOSE_ENOUGH) return this.finish();
    }
    this.corners.push(point);
  }

  undo() {
    this.corners.pop();
  }

  finish() {
    const ring = this.corners;
    if (ring.length < 3) return;
    this.cancel();
    this.done(ring);
  }

  draw(context, view, colour) {
    if (this.corners.length === 0) return;
    const box = this.tool === "box";
    const ring = box ? boxRing(...this.corners[0], ...this.end) : [...this.corners, ...(this.end ? [this.end] : [])];
    path(context, view, [ring]);
    stroke(context, colour);
    if (box) return;
    for (const corner of this.corners) {
      const [px, py] = view.toScreen(...corner);
      context.beginPath();
      context.arc(px, py, 4, 0, 2 * Math.PI);
      stroke(context, colour);
    }
  }
}
