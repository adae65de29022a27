"""A printable page with the result: no scripts, no outside files, everything escaped."""

import base64
import io
from html import escape

import numpy as np
from PIL import Image

from ui.explore.analysis import Analysis
from ui.explore.exports.painted import painted_png
from ui.explore.exports.provenance import provenance_json
from ui.explore.texts import UNRELIABLE, scope_sentence
from ui.figures.score_scale import SCALES, coloured
from ui.frame import texts
from ui.frame.palette import LIGHT

PRINT_SIDE = 1600
STYLE = """
body {font: 14px/1.5 system-ui, sans-serif; color: #1F1B24; max-width: 860px; margin: 2rem auto; padding: 0 1rem}
h1 {font-size: 1.6rem} h2 {font-size: 1.1rem; margin-top: 1.6rem; border-bottom: 1px solid #ddd}
.pictures {display: flex; gap: 1rem} figure {margin: 0; flex: 1} img {width: 100%} figcaption {color: #6B6475}
.bar {display: grid; grid-template-columns: 11rem 1fr 4rem; gap: .5rem; align-items: center; margin: .15rem 0}
.bar i {display: block; height: 1rem} .true {font-weight: bold}
.notice, .warn {border: 1px solid #E69F00; padding: .5rem .8rem; border-radius: .4rem}
pre {white-space: pre-wrap; font-size: 11px; background: #F6F2F8; padding: .8rem} table {border-collapse: collapse}
td, th {padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #eee}
@media print {body {margin: 0} i {print-color-adjust: exact; -webkit-print-color-adjust: exact}}
"""


def html_report(analysis: Analysis) -> str:
    """The whole report as one HTML text."""
    prediction = analysis.prediction
    map_png = painted_png(analysis, coloured(prediction.attention, SCALES[0]), "Cividis")
    picture, painted = (_data_uri(_at_print_size(png)) for png in (_png(analysis.image.pixels), map_png))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(texts.APP_TITLE)}: report</title>
<style>{STYLE}</style></head><body>
<h1>{escape(prediction.label)}, {prediction.probability:.0%}</h1>
<p class="notice">{escape(texts.NOT_A_DEVICE)}</p>
{_warnings(analysis)}
<div class="pictures">
<figure><img alt="The picture" src="{picture}"><figcaption>Picture</figcaption></figure>
<figure><img alt="Attention on the picture" src="{painted}">
<figcaption>Attention, {prediction.attention.min():.3f} to {prediction.attention.max():.3f}</figcaption></figure>
</div>
<h2>Class probabilities</h2>
{_bars(analysis)}
<h2>Instances</h2>
{_table(analysis)}
<h2>Provenance</h2>
<pre>{escape(provenance_json(analysis))}</pre>
</body></html>
"""


def _warnings(analysis: Analysis) -> str:
    verdict = analysis.verdict
    if not verdict.failed:
        return f"<p>{escape(scope_sentence(verdict))}</p>"
    reasons = "".join(f"<li>{escape(item.reason)}</li>" for item in verdict.failed)
    return f'<div class="warn"><b>{escape(UNRELIABLE)}</b><ul>{reasons}</ul></div>'


def _bars(analysis: Analysis) -> str:
    rows = []
    for index, name in enumerate(analysis.labels.names):
        probability = analysis.prediction.probabilities[index]
        candidate = bool(analysis.candidates[index])
        colour = LIGHT.candidate if candidate else LIGHT.non_candidate
        told = f"{name} ({'candidate' if candidate else 'non-candidate'})"
        mark = ' class="bar true"' if index == analysis.true_index else ' class="bar"'
        rows.append(
            f'<div{mark}><span>{escape(told)}</span><i style="background:{colour};width:{probability:.1%}"></i>'
            f"<span>{probability:.1%}</span></div>"
        )
    return "\n".join(rows)


def _table(analysis: Analysis) -> str:
    influence = analysis.scores("leave_one_out", analysis.prediction.index)
    rows = "".join(
        f"<tr><td>{i}</td><td>{attention:.4f}</td><td>{influence[i]:+.4f}</td></tr>"
        for i, attention in enumerate(analysis.prediction.attention)
    )
    return f"<table><tr><th>instance</th><th>attention</th><th>leave-one-out</th></tr>{rows}</table>"


def _png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def _at_print_size(png: bytes) -> bytes:
    """The same picture, at most `PRINT_SIDE` px: a page has no room for more, and a browser no memory."""
    with Image.open(io.BytesIO(png)) as picture:
        if max(picture.size) <= PRINT_SIDE:
            return png
        picture.thumbnail((PRINT_SIDE, PRINT_SIDE), Image.Resampling.BOX)
        return _png(np.asarray(picture))


def _data_uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
