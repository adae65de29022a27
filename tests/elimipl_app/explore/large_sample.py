"""A field of view of the large sample, analysed by the model of any generator."""

from pathlib import Path

import numpy as np

from bag_generators.tissue.samples import Sample, list_samples
from elimipl.answers.predictor import Predictor
from elimipl_app.explore.analysis import Analysis, CandidateSet, View, analyse

SAMPLES = {sample.id: sample for sample in list_samples()}


def file_of(sample: Sample) -> Path:
    return sample.folder / sample.file


def analysis_of(generator: str, x: int = 30, y: int = 70) -> Analysis:
    """The analysis of a field of view of the large sample."""
    whole = SAMPLES["restained-section"].load().at_scale(0.5, "PNG resolution (pHYs)")
    predictor = Predictor.load(f"tissue7-{generator}-elimipl")
    candidates = np.array([True, False, False, True, True, False, True])
    return analyse(View(whole.tile(x, y, 224), x, y, whole), None, predictor, CandidateSet(candidates, "hand"))
