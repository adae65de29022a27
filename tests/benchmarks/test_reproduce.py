"""The reproduction of the paper's table: it resumes, it refuses to mix settings, it says what is missing."""

import json
from pathlib import Path

import numpy as np
import pytest

from bag_generators.errors import InputError
from benchmarks import reproduce
from benchmarks.reproduction import cells, sources
from benchmarks.reproduction.cells import Cell
from benchmarks.reproduction.records import Records
from elimipl.config import Config
from elimipl.datasets.mixed_bags import Recipe
from elimipl.training import Fitted


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tiny birdsong file, and nowhere else to look."""
    rng = np.random.default_rng(0)
    label = np.r_[np.repeat(np.arange(1, 14), 8), np.full(60, -1)]
    folder = tmp_path / "data"
    (folder / "birdsong").mkdir(parents=True)
    np.savez(folder / "birdsong/hja_birdsong.npz", X=rng.normal(size=(len(label), 3)) + label[:, None], label=label)
    tiny = Recipe(bags_per_class=4, smallest=3, largest=5, average=4)
    moved = {name: source._replace(elsewhere=(), recipe=tiny) for name, source in sources.SOURCES.items()}
    monkeypatch.setattr(sources, "SOURCES", moved)
    monkeypatch.setattr(Cell, "config", lambda self: Config.preset("published", method=self.method, hidden=4, epochs=2))
    sources.build.cache_clear()
    return folder


def run(data: Path, results: Path, *more: str) -> int:
    return reproduce.main(["--data", str(data), "--results", str(results), "--workers", "1", *more])


def test_a_stopped_run_goes_on_and_ends_as_an_uninterrupted_one(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data, tmp_path / "whole", "--splits", "2") == 0
    predict, fits = Fitted.predict, []

    def stopped_in_the_eighth(self: Fitted, bags: object) -> object:
        fits.append(bags)
        if len(fits) == 8:
            raise KeyboardInterrupt
        return predict(self, bags)

    monkeypatch.setattr(Fitted, "predict", stopped_in_the_eighth)
    assert run(data, tmp_path / "stopped", "--splits", "2") == 130
    assert run(data, tmp_path / "stopped", "--splits", "2") == 0
    assert len(fits) == 12 + 1
    accuracies = [
        {
            name: {index: split["accuracy"] for index, split in cell["splits"].items()}
            for name, cell in json.loads((tmp_path / folder / "reproduction.json").read_text())["cells"].items()
        }
        for folder in ("whole", "stopped")
    ]
    assert accuracies[0] == accuracies[1]
    assert all(list(splits) == ["0", "1"] for splits in accuracies[0].values())
    assert "Stopped" in capsys.readouterr().err


def test_missing_data_is_named_with_the_way_to_get_it_and_its_cells_are_left_open(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data, tmp_path / "results", "--splits", "1") == 0
    said = capsys.readouterr().err
    assert "torchvision.datasets.MNIST" in said
    assert "dataset-fashion-mnist" in said
    table = (tmp_path / "results/reproduction.md").read_text(encoding="utf-8")
    assert table.count("| not run |") == 12


def test_splits_of_other_settings_are_never_averaged_in(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(data, tmp_path, "--splits", "1")
    monkeypatch.setattr(Cell, "config", lambda self: Config.preset("published", method=self.method, hidden=5, epochs=2))
    assert run(data, tmp_path, "--splits", "2") == 1
    assert "with other settings" in capsys.readouterr().err


def test_splits_with_a_setting_that_is_gone_are_never_averaged_in(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(data, tmp_path, "--splits", "1")
    path = tmp_path / "reproduction.json"
    path.write_text(path.read_text().replace('"nesterov"', '"nestorov"'))
    assert run(data, tmp_path, "--splits", "2") == 1
    assert "with other settings" in capsys.readouterr().err


def test_a_damaged_results_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "reproduction.json").write_text("{")
    with pytest.raises(InputError, match="can't be read as a results file"):
        Records(tmp_path / "reproduction.json")


def test_a_round_of_all_cells_comes_before_the_next_and_birdsong_before_the_pictures() -> None:
    order = list(reproduce._in_order(cells.table_cells(), splits=3, workers=2))
    assert [(cell.data == "birdsong", end) for cell, end in order] == (
        [(True, 2)] * 6 + [(True, 3)] * 6 + [(False, 2)] * 12 + [(False, 3)] * 12
    )


def test_every_cell_has_settings_of_its_own_and_numbers_of_the_paper() -> None:
    for cell in cells.table_cells():
        assert cell.config().method == cell.method
        mean, std = cell.paper
        assert 0 < std < mean < 1
