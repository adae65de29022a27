"""Draw assets/icon.png, the picture in the browser's tab: a gland of nine cells, one of them lit by attention."""

import math
from pathlib import Path

from PIL import Image, ImageDraw

SIZE, FINE = 64, 8
EOSIN, HAEMATOXYLIN, LIT = "#E7A6CF", "#5B2A86", "#FDE725"


def main() -> None:
    canvas = Image.new("RGBA", (SIZE * FINE, SIZE * FINE), (0, 0, 0, 0))
    pen = ImageDraw.Draw(canvas)
    middle = SIZE * FINE / 2
    pen.ellipse([FINE, FINE, SIZE * FINE - FINE, SIZE * FINE - FINE], fill=EOSIN)
    pen.ellipse([middle - 9 * FINE, middle - 9 * FINE, middle + 9 * FINE, middle + 9 * FINE], fill="white")
    for cell in range(9):
        angle = 2 * math.pi * cell / 9
        x, y = middle + 20 * FINE * math.cos(angle), middle + 20 * FINE * math.sin(angle)
        radius = 5.5 * FINE
        pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=LIT if cell == 7 else HAEMATOXYLIN)
    target = Path(__file__).resolve().parents[1] / "assets" / "icon.png"
    canvas.resize((SIZE, SIZE), Image.Resampling.LANCZOS).save(target)


if __name__ == "__main__":
    main()
