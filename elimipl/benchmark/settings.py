"""The settings of every cell.

**Benchmark sets and the authors' files**: what the authors' code uses, where that is known: one bag per step, l = 128
(DEMIPL 500, CRC-MIPL 512), T = 100 (DEMIPL 200 on SIVAL and CRC-MIPL). What is our own was chosen on bags drawn with
another seed than the reported ones:
- Birdsong takes 32 bags per step at a rate of .2 instead of one at .01. That is 14 times faster and was as good
  (.741 and .723; both disambiguated .925 of the training labels). From r = 4 on (Figure 4) the rate is .32, which is
  .01 for each bag: at r = 6 ELIMIPL has .409 with .2 and .511 with .32 (three splits; `scripts/choose_settings.py`).
- DEMIPL's λ_a is known for MNIST only, .001, and FMNIST takes the same. Birdsong takes .0001: with .001 DEMIPL hardly
  learned at r = 2 (.385, against .672). `benchmarks/results/findings.md` tells how many settings were tried. SIVAL
  and CRC-MIPL (Row: .001) take .0001, too.
- PathMNIST-MIPL takes MNIST-MIPL's settings, untuned.
- Pictures are standardised with one mean and one deviation for all pixels. Pixel by pixel, the few strokes that reach
  the margin would be up to 144 deviations large (`scripts/choose_settings.py`).

**Tissue tiles**: all networks have the settings of the shipped models, which were chosen on training tiles only; DEMIPL
trains 200 epochs, as its paper has it for tissue and for SIVAL.
There are no augmented copies here; fewer bags per step make up for the missing steps. On segments of tissue7 tiles the
learning rate falls in proportion, because with the old one trainings broke down (`scripts/choose_settings.py`). So it
does for CDL-SAM on SIFT of tissue7, where the others' .1 gave chance or no finite loss: .1 .23, .025 .40, .00625 .37 on
other splits of the tiles.

**CRC-MIPL rebuilt** takes 64 bags per step: one by one an epoch takes 8 s. The rates, .2 for the published head and .05
for a plain softmax, are those that were good on other tissue; they are not chosen on these bags.

**Methods since**: MIPLMA's λ is its code's on MNIST (.05, .1, .01) and its paper's on Birdsong (5); elsewhere .1 is our
guess. τ falls to .1, on tissue to .5. CDL, with a plain softmax, takes a rate of .05 for 32 bags where the published
head takes .2; on pictures both take .01. MIPLMA-batch takes 16 pictures' bags per step at a rate of .1. None of these
is tuned here. ProMIPL has its code's epochs and temperatures, FastMIPL the rates and samples of its code, and two
layers everywhere.

Variants share ELIMIPL's settings. ELIMIPL-entropy is our own method, not a variant: it has the `default` preset (plain
softmax, μ = .1, γ = 1), and on pictures the authors' steps and width at a rate of .01; their .05 is too much for a
plain softmax, which stayed at chance. The authors' head can't carry it: with it and μ = .1 Birdsong of another seed
came out at .379 instead of .792. Methods that don't train the network have the settings of their own papers, see
`elimipl.methods`; MIPLGP standardises pictures as the networks do.
"""

from __future__ import annotations

from typing import Any

from elimipl.benchmark.cells import DATA, NETWORKS, OURS, SINCE, Cell

_TILES: dict[str, Any] = {
    "preset": "default",
    "hidden": 64,
    "gate": "two",
    "gate_width": 64,
    "score": "linear",
    "lr": 0.1,
    "epochs": 40,
    "dropout": 0.3,
    "mu": 0.03,
    "gamma": 0.3,
}
_SEGMENTS: dict[str, Any] = {
    "preset": "default",
    "extractor": "context",
    "hidden": 512,
    "lr": 0.2,
    "epochs": 40,
}


_OWN_RATES = (*OURS, *(name for name in SINCE if name not in ("DAM-CLI", "ELIMIPL-unscaled", "ELIMIPL-kept")))
"""Methods that don't take ELIMIPL's learning rates."""


def settings_of(cell: Cell) -> dict[str, Any]:
    """What to give to the method's `config`; split i trains with seed i."""
    if cell.method == "ProMIPL":
        return _generative_settings(cell)
    if cell.method == "AGOPMIPL":
        return _agop_settings(cell)
    if cell.method.startswith("FastMIPL"):
        return _fast_settings(cell)
    if cell.method not in NETWORKS:
        return {"scaling": "global"} if cell.method == "MIPLGP" and DATA[cell.data].pictures else {}
    space, _, generator = cell.data.partition("-")
    tiles = space in ("lesion5", "tissue7")
    if not tiles:
        return _benchmark_settings(cell)
    settings = _tile_settings(space, generator) | _margin_settings(cell)
    if cell.data == "tissue7-sift" and cell.method.startswith("CDL-SAM"):
        settings["lr"] = 0.025
    if cell.method == "DEMIPL":
        return {key: value for key, value in settings.items() if key not in ("mu", "gamma")} | {"epochs": 200}
    return settings


def _tile_settings(space: str, generator: str) -> dict[str, Any]:
    settings = {**(_SEGMENTS if generator == "kmeansseg" else _TILES), "batch": 64 if space == "lesion5" else 8}
    if space == "tissue7" and generator == "kmeansseg":
        return {**settings, "lr": 0.025}
    if space == "lesion5" and generator == "sift":
        return {**settings, "hidden": 128, "weight_decay": 1e-3}
    return {**settings, "extractor": "context"} if space == "lesion5" else settings


def _benchmark_settings(cell: Cell) -> dict[str, Any]:
    data = cell.data.removeprefix("authors-")
    settings: dict[str, Any] = {"preset": "published"}
    if cell.method in OURS:
        if not DATA[cell.data].pictures:
            return {}
        settings = {"hidden": 128, "batch": 1}
    elif cell.method != "DEMIPL":
        settings |= {"hidden": 512 if data.startswith("crc") else 128} | _loss_weights(data, cell.r)
    elif not DATA[cell.data].pictures:
        settings |= {"attention_entropy": 1e-3 if data == "crc-row" else 1e-4}
        settings |= {"epochs": 200} if data == "sival" or data.startswith("crc") else {}
    if cell.method in SINCE:
        settings |= _margin_settings(cell)
    if DATA[cell.data].pictures:
        faster = cell.method not in _OWN_RATES and (
            cell.r == 3 or (data in ("mnist", "pathmnist") and cell.method != "DEMIPL")
        )
        in_batches = {"batch": 16, "lr": 0.1} if cell.method == "MIPLMA-batch" else {}
        return settings | {"extractor": "cnn", "lr": 0.05 if faster else 0.01} | in_batches
    if cell.data.startswith("crc-"):
        return settings | {"batch": 64, "lr": 0.05 if _plain_softmax(cell.method) else 0.2}
    if data == "birdsong":
        if _plain_softmax(cell.method):
            return settings | {"batch": 32, "lr": 0.05}
        return settings | {"batch": 32, "lr": 0.2 if cell.r < 4 else 0.32}
    return settings | {"lr": 0.05 if (data, cell.r) == ("sival", 3) else 0.01}


def _plain_softmax(method: str) -> bool:
    """Whether a method since has a plain softmax, which needs smaller steps."""
    return method == "ABMIL" or (method.startswith("CDL") and not method.endswith("-sigmoid"))


def _margin_settings(cell: Cell) -> dict[str, Any]:
    """λ and τ_m of methods with MIPLMA's loss or attention."""
    data = cell.data.removeprefix("authors-")
    tissue = data.partition("-")[0] in ("lesion5", "tissue7", "crc")
    settings: dict[str, Any] = {}
    if cell.method.startswith("MIPLMA"):
        known = {"mnist": (0.05, 0.1, 0.01), "birdsong": (5.0, 5.0, 5.0)}.get(data, ())
        settings["margin"] = known[cell.r - 1] if 1 <= cell.r <= len(known) else 0.1
    if tissue and (cell.method.startswith("MIPLMA") or "-MAM-" in cell.method):
        settings["least_temperature"] = 0.5
    if data.startswith("crc") and (cell.method.startswith("MIPLMA") or "-DAM-" in cell.method):
        settings["epochs"] = 200
    return settings


def _generative_settings(cell: Cell) -> dict[str, Any]:
    """Rate, epochs and temperature of ProMIPL's code by data set; steps of several bags as ELIMIPL has them."""
    data = cell.data.removeprefix("authors-")
    if DATA[cell.data].pictures:
        lr = 0.0085 if (data, cell.r) == ("mnist", 3) else 0.005
        return {"extractor": "cnn", "scaling": "global", "cooling": 0.0, "epochs": 100, "lr": lr}
    if data.partition("-")[0] in ("lesion5", "tissue7", "crc"):
        in_batches = {} if cell.data.startswith("authors-") else {"batch": 64, "lr": 0.2}
        return {"hidden": 512, "epochs": 300, "least_temperature": 0.5} | in_batches
    return {"batch": 32, "lr": 0.2} if data == "birdsong" else {}


def _agop_settings(cell: Cell) -> dict[str, Any]:
    """Rounds, prototypes and weight decay of AGOPMIPL's code by data set; it has no CNN here."""
    data = cell.data.removeprefix("authors-")
    if DATA[cell.data].pictures:
        return {"scaling": "global", "prototypes": 5, "rounds": 4, "epochs": 400}
    if data == "birdsong":
        own = {"prototypes": 13, "combine": "average", "rounds": 8, "epochs": 400, "weight_decay": 1e-3}
        return own | {"batch": 32, "lr": 0.05}
    if data == "sival":
        return {"prototypes": 25, "combine": "average", "rounds": 3, "epochs": 240, "weight_decay": 1e-3}
    return {} if cell.data.startswith("authors-") else {"batch": 64, "lr": 0.05}


def _fast_settings(cell: Cell) -> dict[str, Any]:
    """Rate, samples and widths of FastMIPL's code by data set; elsewhere those it has for tissue."""
    data = cell.data.removeprefix("authors-")
    rates = {"birdsong": (0.001, 0.002, 0.005), "sival": (0.002, 0.005, 0.005)}.get(data, ())
    samples = {"mnist": (40, 30, 50), "fmnist": (30, 40, 20), "birdsong": (10, 20, 30), "sival": (30, 20, 30)}
    known = 1 <= cell.r <= 3
    settings: dict[str, Any] = {"lr": rates[cell.r - 1]} if known and rates else {}
    if known and data in samples:
        settings["samples"] = samples[data][cell.r - 1]
    if DATA[cell.data].pictures:
        settings |= {"extractor": "cnn", "scaling": "global", "hidden": 256, "width": 128, "lr": 0.0005}
    return settings


def _loss_weights(data: str, r: int) -> dict[str, float]:
    if data in ("mnist", "pathmnist"):
        return {"mu": 0.1 if r == 3 else 1.0, "gamma": 0.1}
    if data == "fmnist":
        return {"mu": 1.0, "gamma": 0.5}
    return {"mu": 10.0, "gamma": 10.0}
