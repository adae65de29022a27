"""Which cells there are, with which settings and which numbers of the paper, and in which order they run."""

from pathlib import Path

import pytest

from elimipl.benchmark.cells import DATA, NETWORKS, SINCE, VIEWS, Cell, paper_number, paper_tables
from elimipl.benchmark.records import Records
from elimipl.benchmark.tasks import config_of, to_do
from elimipl.config import Config
from elimipl.methods import METHODS

EVERY = list(dict.fromkeys([cell for view in VIEWS.values() for cell in view.cells(SINCE)]))


def test_every_method_of_the_paper_is_there() -> None:
    named = {method for table in paper_tables().values() for methods in table.values() for method in methods}
    assert named <= set(METHODS)
    assert {cell.method for cell in EVERY} == set(METHODS)


def test_every_cell_has_settings_a_name_of_its_own_and_only_tiles_are_not_comparable() -> None:
    for cell in EVERY:
        config = config_of(cell)
        assert isinstance(config, Config) == (cell.method in NETWORKS)
        assert config.seed == 0
    assert len({cell.name for cell in EVERY}) == len(EVERY)
    assert {data.id.partition("-")[0] for data in DATA.values() if not data.comparable} == {"lesion5", "tissue7", "crc"}


def test_the_paper_has_numbers_for_its_own_methods_only() -> None:
    known = {(cell.data, cell.paper is None) for cell in VIEWS["table 2"].cells()}  # perceptrons: its Table A1
    assert {data for data, missing in known if missing} == {"pathmnist"}
    assert Cell("fmnist", 2, "RC-MLP-Mean").paper == (0.684, 0.029)
    assert Cell("authors-crc-row", 0, "PRODEN-MLP-MaxMin").paper == (0.453, 0.009)  # more than ELIMIPL's .433
    assert Cell("birdsong", 1, "ELIMIPL-entropy").paper is None
    assert Cell("birdsong", 1, "CDL-DAM-CN").paper == (0.804, 0.021)
    assert Cell("crc-sbn", 0, "CDL-DAM-CN").paper == (0.579, 0.006)
    assert Cell("mnist", 3, "ELIMIPL-unscaled").paper is None  # “–”: vanished gradients
    assert Cell("authors-crc-sift", 0, "MIPLGP").paper is None  # “--”: memory overflow
    assert paper_number("MNIST", 4, "ELIMIPL") is None


def test_the_tables_of_the_paper_agree_where_they_overlap() -> None:
    tables = paper_tables()
    for data, methods in tables["2"].items():
        for other in ("4", "5"):
            if data in tables[other]:
                assert tables[other][data]["ELIMIPL"] == methods["ELIMIPL"]
    assert all(len(numbers) == 3 for methods in tables["2"].values() for numbers in methods.values())
    assert {len(methods) for methods in (*tables["2"].values(), *tables["3"].values())} == {11}
    assert {len(methods) for methods in (*tables["A1"].values(), *tables["A2"].values())} == {6}


@pytest.mark.parametrize(
    ("cell", "settings"),
    [
        (Cell("mnist", 3, "ELIMIPL"), {"lr": 0.05, "mu": 0.1, "gamma": 0.1, "hidden": 128, "batch": 1}),
        (Cell("fmnist", 1, "ELIMIPL"), {"lr": 0.01, "mu": 1.0, "gamma": 0.5, "extractor": "cnn"}),
        (Cell("mnist", 1, "DEMIPL"), {"lr": 0.01, "attention_entropy": 0.001, "hidden": 500}),
        (Cell("birdsong", 2, "DEMIPL"), {"lr": 0.2, "batch": 32, "attention_entropy": 0.0001}),
        (Cell("birdsong", 2, "MA+IN"), {"mu": 0.0, "gamma": 10.0, "mapping": "momentum", "hidden": 128}),
        (Cell("birdsong", 2, "CE-SP-IN"), {"mu": 10.0, "gamma": 10.0, "mapping": "average"}),
        (Cell("authors-sival", 3, "ELIMIPL"), {"lr": 0.05, "mu": 10.0, "gamma": 10.0, "batch": 1}),
        (Cell("authors-sival", 1, "DEMIPL"), {"lr": 0.01, "epochs": 200, "attention_entropy": 0.0001}),
        (Cell("authors-crc-row", 0, "DEMIPL"), {"lr": 0.01, "epochs": 200, "attention_entropy": 0.001}),
        (Cell("authors-fmnist", 1, "DEMIPL"), {"lr": 0.01, "epochs": 100}),
        (Cell("tissue7-row", 0, "DEMIPL"), {"epochs": 200, "batch": 8}),
        (Cell("lesion5-sift", 0, "DEMIPL"), {"epochs": 200, "batch": 64}),
        (Cell("authors-crc-sbn", 0, "ELIMIPL"), {"lr": 0.01, "hidden": 512, "epochs": 100}),
        (Cell("birdsong", 1, "ELIMIPL-entropy"), {"sparsity": "entropy", "head": "softmax", "mu": 0.1, "batch": 64}),
        (Cell("fmnist", 3, "ELIMIPL-entropy"), {"extractor": "cnn", "lr": 0.01, "batch": 1, "gamma": 1.0}),
        (Cell("mnist", 2, "MIPLMA"), {"margin": 0.1, "lr": 0.01, "batch": 1, "head": "softmax_of_sigmoid"}),
        (Cell("birdsong", 1, "MIPLMA-batch"), {"margin": 5.0, "batch": 32}),
        (Cell("birdsong", 1, "CDL-SAM-CN"), {"head": "softmax", "lr": 0.05, "hidden": 128, "loss": "cdl-cn"}),
        (Cell("birdsong", 1, "CDL-SAM-CN-sigmoid"), {"head": "softmax_of_sigmoid", "lr": 0.2}),
        (Cell("crc-row", 0, "CDL-MAM-CC"), {"least_temperature": 0.5, "batch": 64, "hidden": 512}),
        (Cell("crc-row", 0, "MIPLMA"), {"least_temperature": 0.5, "epochs": 200, "margin": 0.1}),
        (Cell("mnist", 3, "FastMIPL"), {"lr": 0.0005, "samples": 50, "width": 128, "published": False}),
        (Cell("birdsong", 2, "FastMIPL-published"), {"lr": 0.002, "samples": 20, "published": True}),
        (Cell("mnist", 3, "ProMIPL"), {"lr": 0.0085, "cooling": 0.0, "epochs": 100, "batch": 1}),
        (Cell("crc-row", 0, "ProMIPL"), {"least_temperature": 0.5, "epochs": 300, "batch": 64}),
        (Cell("crc-sbn", 0, "ELIMIPL"), {"batch": 64, "lr": 0.2, "mu": 10.0, "epochs": 100}),
        (Cell("crc-row", 0, "DEMIPL"), {"batch": 64, "epochs": 200, "attention_entropy": 0.001}),
        (Cell("mnist", 1, "DAM-CLI"), {"mu": 1.0, "lr": 0.05, "pooling": "sigmoid_normalised"}),
        (Cell("lesion5-row", 0, "ELIMIPL"), {"sparsity": "l1", "extractor": "context", "head": "softmax"}),
        (Cell("lesion5-row", 0, "ELIMIPL-entropy"), {"sparsity": "entropy", "extractor": "context", "mu": 0.03}),
    ],
)
def test_settings_are_the_authors_where_they_are_known(cell: Cell, settings: dict[str, object]) -> None:
    config = config_of(cell).to_dict()
    assert {name: config[name] for name in settings} == settings


def test_a_round_of_all_cells_comes_before_the_next_and_cheap_cells_first(tmp_path: Path) -> None:
    cells = [Cell("mnist", 1, "ELIMIPL"), Cell("birdsong", 1, "MIPLGP"), Cell("birdsong", 1, "ELIMIPL")]
    cells.append(Cell("mnist", 1, "RC-Mean"))
    records = Records(tmp_path / "benchmark.json")
    records.add(cells[2], Config(), {}, 0, {"accuracy": 1.0})
    order = [(index, cell.data, cell.method) for cell, index in to_do(cells, 2, records)]
    assert order == [
        (0, "mnist", "RC-Mean"),
        (0, "birdsong", "MIPLGP"),
        (0, "mnist", "ELIMIPL"),
        (1, "mnist", "RC-Mean"),
        (1, "birdsong", "ELIMIPL"),
        (1, "birdsong", "MIPLGP"),
        (1, "mnist", "ELIMIPL"),
    ]
