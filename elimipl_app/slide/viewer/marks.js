// What is drawn above slide and map: scale bar, overview, regions, the field that was clicked.

const NICE = [1, 2, 5];

// The longest round length that takes at most `most` screen pixels: [microns, pixels].
function barLength(micronsPerScreenPixel, most) {
  let best = [0, 0];
  for (let power = -1; power < 6; power++) {
    for (const digit of NICE) {
      const microns = digit * 10 ** power;
      if (microns / micronsPerScreenPixel <= most) best = [microns, microns / micronsPerScreenPixel];
    }
  }
  return best;
}

const lengthInWords = (microns) => (microns >= 1000 ? `${microns / 1000} mm` : `${microns} µm`);

function path(context, view, rings) {
  context.beginPath();
  for (const ring of rings) {
    ring.forEach(([x, y], index) => {
      const [px, py] = view.toScreen(x, y);
      if (index === 0) context.moveTo(px, py);
      else context.lineTo(px, py);
    });
    context.closePath();
  }
}

// A line that is seen on dark and on light tissue.
function stroke(context, colour, width = 2) {
  context.setLineDash([]);
  context.lineWidth = width + 2;
  context.strokeStyle = "rgba(255, 255, 255, .8)";
  context.stroke();
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.stroke();
}

function drawRegions(context, view, regions, colour) {
  context.font = "600 13px sans-serif";
  for (const region of regions) {
    path(context, view, region.rings);
    stroke(context, colour);
    const first = region.rings[0].reduce((best, corner) => (corner[0] + corner[1] < best[0] + best[1] ? corner : best));
    const [px, py] = view.toScreen(...first);
    label(context, region.name, px + 4, py - 6);
  }
}

function label(context, text, px, py) {
  context.lineWidth = 3;
  context.strokeStyle = "rgba(255, 255, 255, .9)";
  context.strokeText(text, px, py);
  context.fillStyle = "#1F1B24";
  context.fillText(text, px, py);
}

function drawField(context, view, field, colour) {
  path(context, view, [boxRing(field.x, field.y, field.x + field.size, field.y + field.size)]);
  stroke(context, colour, 2.5);
}

const boxRing = (left, top, right, bottom) => [[left, top], [right, top], [right, bottom], [left, bottom]];

// The whole slide in a corner, with a frame around what is in view; where it lies is said to who clicks on it. Nothing
// while its picture is on the way.
function drawInset(context, view, tiles, colour) {
  if (!tiles.whole) return null;
  const { width, height } = view.slide;
  const room = Math.min(150, view.size.width * 0.28, view.size.height * 0.4);
  const shrink = room / Math.max(width, height);
  const inset = { left: view.size.width - width * shrink - 8, top: 8, shrink, width: width * shrink, height: height * shrink };
  const share = 2 ** (view.slide.levels - 1);
  context.drawImage(tiles.whole, 0, 0, width / share, height / share, inset.left, inset.top, inset.width, inset.height);
  context.lineWidth = 1;
  context.strokeStyle = "#6B6475";
  context.strokeRect(inset.left, inset.top, inset.width, inset.height);
  const [left, top, right, bottom] = view.visible;
  context.lineWidth = 2;
  context.strokeStyle = colour;
  const frame = [left, top, right - left, bottom - top].map((value) => value * shrink);
  context.strokeRect(inset.left + frame[0], inset.top + frame[1], Math.max(3, frame[2]), Math.max(3, frame[3]));
  return inset;
}

function drawScaleBar(context, view, words) {
  const left = 12;
  const bottom = view.size.height - 14;
  context.font = "600 12px sans-serif";
  if (!view.slide.microns) {
    label(context, words.noScale, left, bottom);
    return;
  }
  const [microns, width] = barLength(view.slide.microns / view.scale, Math.min(160, view.size.width / 3));
  context.fillStyle = "rgba(255, 255, 255, .85)";
  context.fillRect(left - 6, bottom - 22, width + 12, 30);
  context.fillStyle = "#1F1B24";
  context.fillRect(left, bottom, width, 3);
  context.fillText(lengthInWords(microns), left, bottom - 7);
}
