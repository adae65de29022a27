"""How much the crowd costs: where the paper's numbers lie on the curves, and what is said about it."""

import json

import pytest

from elimipl.benchmark.crowd import FILE, SHARES, CrowdCurve, crowd_curves, crowd_sentence


def curve(accuracy, paper):
    return CrowdCurve("CRC-Row", "DEMIPL", accuracy, accuracy, paper)


def test_a_printed_number_is_found_between_two_shares_or_not_at_all():
    falling = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    assert curve(falling, 0.45).meets == pytest.approx(0.15)
    assert curve(falling, 0.65).meets is None
    assert curve(falling, 0.05).meets is None
    assert curve(falling, None).meets is None
    said = crowd_sentence([curve(falling, 0.45), curve(falling, 0.05), curve(falling, None)])
    assert said.startswith("1 of 2 printed numbers come out")
    assert "between 15 % and 15 %" in said
    assert crowd_sentence([curve(falling, 0.05)]).startswith("None of the paper's numbers")
    as_it_is = curve(falling, falling[0] - 0.001)
    assert "Not so" not in said
    assert f"Not so {as_it_is.method} on {as_it_is.data}:" in crowd_sentence([curve(falling, 0.45), as_it_is])


def test_methods_with_every_share_are_read_and_splits_are_averaged(tmp_path):
    assert crowd_curves(tmp_path) == ()
    other = {"crc_val": 0.3, "size": 2.0}
    runs = {
        f'row {split} DEMIPL {{"missed": {share}}}': {
            "accuracy": 0.5 - share / 2 + split / 10,
            "crc_val": 0.3,
            "size": 2.0,
        }
        for share in SHARES
        for split in (0, 1)
    }
    runs['row 0 RC-Mean {"missed": 0.0}'] = {"accuracy": 0.5, **other}
    runs['row 0 DEMIPL {"scaling": "none"}'] = {"accuracy": 0.1, **other}
    (tmp_path / FILE).write_text(json.dumps(runs))
    (only,) = crowd_curves(tmp_path)
    assert (only.data, only.method, only.paper) == ("CRC-Row", "DEMIPL", 0.408)
    assert only.accuracy[0] == pytest.approx(0.55)
    assert only.meets == pytest.approx(2 * (0.55 - 0.408))
