"""Train the models of drawn phantoms: drawn7, all generators, ELIMIPL and DEMIPL, each with its full card.

A phantom holds its class in one part of neutral tissue and it is known which, so maps can be checked against truth.
150 phantoms of each class to learn from, 60 others (another seed) for accuracy, calibration, label sets and trust.

    python scripts/train_drawn_models.py [--generator deep]
"""

import argparse

from bag_generators import GENERATORS
from bag_generators.base.assets import assets
from elimipl.answers.trust import measure_trust
from elimipl.candidates.crowd import Candidates
from elimipl.cards.finish import finish
from elimipl.datasets.shipped import build_phantoms
from elimipl.training.loop import fit
from scripts.colon.recipes import METHODS, SMALL, config

LEARNED, MEASURED = 150, 60
CROWD = Candidates("crowd", seed=0)
SETTINGS = {**SMALL, "mu": 0.1, "gamma": 1.0, "batch": 64, "weight_decay": 1e-3}


def train(generator: str) -> None:
    """Both methods of one generator."""
    learned, others = (
        CROWD.given_to(build_phantoms(generator, per_class=count, seed=seed))
        for count, seed in ((LEARNED, 1), (MEASURED, 2))
    )
    for method in METHODS:
        finished = finish(
            fit(learned, config(method, SETTINGS)),
            learned,
            CROWD,
            created_by="scripts/train_drawn_models.py",
            held_out=others,
            name="drawn phantoms",
            model_id=f"drawn7-{generator}-{method}",
        )
        finished = finished.with_trust(measure_trust(finished.predictor, others, on=f"{len(others)} other phantoms"))
        finished.save(assets("models"))
        card = finished.card
        located = card.trust.methods["attention"].auroc
        print(f"{card.id:<26} accuracy {card.accuracy.value:.3f}, attention AUROC {located:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generator", choices=tuple(GENERATORS), action="append")
    for generator in parser.parse_args().generator or GENERATORS:
        train(generator)


if __name__ == "__main__":
    main()
