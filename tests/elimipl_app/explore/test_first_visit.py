"""The picture a visitor meets first: real tissue that the model answers, with a map that bears its own test."""

from bag_generators.tissue.samples import Sample, list_samples
from elimipl.answers import explain
from elimipl.answers.predictor import Predictor
from elimipl_app.charts.map_layer import is_even
from elimipl_app.explore.analysis import View, analyse
from elimipl_app.inputs.method import FIRST_MODELS
from elimipl_app.inputs.picture import FIRST_SAMPLE
from elimipl_app.shell.cached import scale_of

ENOUGH, LESS = 0.06, 0.12
"""The quarter that the map points at keeps the answer's probability within the first; the one it points away from loses
more than the second."""
SAMPLES = {sample.id: sample for sample in list_samples()}
PREDICTOR = Predictor.load(FIRST_MODELS[0])


def doubts(sample: Sample) -> list[str]:
    """What speaks against showing a sample first."""
    image = sample.load()
    scale = scale_of(image)
    analysis = analyse(View(scale.apply_to(image), scale=scale), sample, PREDICTOR)
    _, answer = analysis.answer_without(())
    kept = explain.kept_alone(PREDICTOR, analysis.bag, explain.first_map(PREDICTOR, analysis.bag))
    wrong = {
        "the model declines": answer.declined,
        "its attention is even": is_even(analysis.prediction.attention),
        "the map's first quarter alone is not enough": kept.most < kept.whole - ENOUGH,
        "the map's last quarter alone is enough": kept.least > kept.whole - LESS,
    }
    return [reason for reason, holds in wrong.items() if holds]


def test_the_first_picture_is_real_answered_and_its_map_bears_the_removal_test():
    found = {name: doubts(sample) for name, sample in SAMPLES.items() if sample.kind != "phantom"}
    fitting = [name for name, reasons in found.items() if SAMPLES[name].kind == "real" and not reasons]
    shown = FIRST_SAMPLE
    if not fitting:
        assert SAMPLES[shown].kind == "restained", f"no real field will do, so a re-stained one is to be first: {found}"
        return
    assert shown in fitting, f"“{shown}” will not do ({found[shown]}); set FIRST_SAMPLE to one of {fitting}"


def test_real_tissue_stands_first_in_the_gallery_with_its_credit():
    kinds = [sample.kind for sample in SAMPLES.values()]
    assert kinds == sorted(kinds, key=["real", "restained", "phantom"].index)
    for sample in SAMPLES.values():
        if sample.kind == "real":
            assert "TIAToolbox" in sample.credit
            assert sample.licence == "BSD-3-Clause"
            assert "organ is not stated" in sample.description
