// Mouse, fingers and keys on a pane.

const CLICK_WITHIN = 5; // screen pixels a pointer may move and still have clicked
const KEY_STEP = 80; // screen pixels an arrow moves the view
const KEY_ZOOM = 1.5;

class Pointing {
  // `viewer` has view, drawing, inset, and the verbs changed, hover, pick, leave, toggle.
  constructor(pane, viewer) {
    this.pane = pane;
    this.viewer = viewer;
    this.pointers = new Map(); // id → last place
    this.moved = 0;
    const on = (name, verb, options) => pane.addEventListener(name, (event) => this[verb](event), options);
    on("wheel", "wheel", { passive: false });
    on("pointerdown", "down");
    on("pointermove", "move");
    on("pointerup", "up");
    on("pointercancel", "up");
    on("pointerleave", "leave");
    on("dblclick", "double");
    on("keydown", "key");
  }

  place(event) {
    const frame = this.pane.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const step = Math.max(-240, Math.min(240, event.deltaY * lines));
    this.viewer.view.zoom(Math.exp(-step * (event.ctrlKey ? 0.01 : 0.002)), ...this.place(event));
    this.viewer.changed();
  }

  down(event) {
    if (event.button !== 0) return;
    const place = this.place(event);
    this.pane.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, place);
    if (this.pointers.size === 1) this.moved = 0;
    this.onInset = this.pointers.size === 1 && this.within(place);
    if (this.onInset) this.jump(place);
    else if (this.viewer.drawing.tool === "box" && this.pointers.size === 1)
      this.viewer.drawing.startBox(this.point(place));
    else if (this.pointers.size === 2 && this.viewer.drawing.tool === "box") this.viewer.drawing.cancel();
  }

  move(event) {
    const place = this.place(event);
    const { view, drawing } = this.viewer;
    const before = this.pointers.get(event.pointerId);
    this.viewer.hover(...view.toSlide(...place));
    if (drawing.corners.length > 0) drawing.end = this.point(place);
    if (before) {
      this.moved += Math.hypot(place[0] - before[0], place[1] - before[1]);
      if (this.onInset) this.jump(place);
      else if (this.pointers.size === 2) this.pinch(event.pointerId, place);
      else if (drawing.tool !== "box") view.pan(place[0] - before[0], place[1] - before[1]);
      this.pointers.set(event.pointerId, place);
    }
    this.viewer.changed();
  }

  pinch(id, place) {
    const { view } = this.viewer;
    const before = this.pointers.get(id);
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const apart = (one) => Math.max(1, Math.hypot(one[0] - other[0], one[1] - other[1]));
    view.pan((place[0] - before[0]) / 2, (place[1] - before[1]) / 2);
    view.zoom(apart(place) / apart(before), (place[0] + other[0]) / 2, (place[1] + other[1]) / 2);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    const { drawing, view } = this.viewer;
    const place = this.place(event);
    const clicked = this.moved < CLICK_WITHIN && event.type === "pointerup" && !this.onInset;
    if (event.type === "pointercancel" && drawing.tool === "box") drawing.cancel();
    else if (drawing.tool === "box" && drawing.corners.length > 0) drawing.finishBox();
    else if (clicked && drawing.tool === "polygon") drawing.add(this.point(place), view);
    else if (clicked && drawing.tool === "move") this.viewer.pick(...view.toSlide(...place));
    this.viewer.changed();
  }

  leave() {
    this.viewer.leave();
  }

  double() {
    if (this.viewer.drawing.tool !== "polygon") return;
    this.viewer.drawing.undo(); // the second click of the two set the last corner twice
    this.viewer.drawing.finish();
    this.viewer.changed();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { view, drawing } = this.viewer;
    const verbs = {
      ArrowLeft: () => view.pan(KEY_STEP, 0),
      ArrowRight: () => view.pan(-KEY_STEP, 0),
      ArrowUp: () => view.pan(0, KEY_STEP),
      ArrowDown: () => view.pan(0, -KEY_STEP),
      "+": () => view.zoom(KEY_ZOOM),
      "=": () => view.zoom(KEY_ZOOM),
      "-": () => view.zoom(1 / KEY_ZOOM),
      0: () => view.fit(),
      h: () => this.viewer.toggle(),
      Enter: () => (drawing.tool === "polygon" ? drawing.finish() : this.viewer.pick(view.x, view.y, true)),
      Backspace: () => drawing.undo(),
      Escape: () => (drawing.corners.length > 0 ? drawing.cancel() : this.viewer.pick(null)),
    };
    const verb = verbs[event.key];
    if (!verb) return;
    event.preventDefault();
    event.stopPropagation(); // Streamlit has keys of its own
    verb();
    this.viewer.changed();
  }

  within([px, py]) {
    const inset = this.viewer.inset;
    return inset && px >= inset.left && px <= inset.left + inset.width && py >= inset.top && py <= inset.top + inset.height;
  }

  jump([px, py]) {
    const { inset, view } = this.viewer;
    view.moveTo((px - inset.left) / inset.shrink, (py - inset.top) / inset.shrink);
    this.viewer.changed();
  }

  // A point for a region: on the slide, whole pixels.
  point(place) {
    const { slide } = this.viewer.view;
    const [x, y] = this.viewer.view.toSlide(...place);
    return [Math.min(slide.width, Math.max(0, Math.round(x))), Math.min(slide.height, Math.max(0, Math.round(y)))];
  }
}
