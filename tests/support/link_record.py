"""Old links of all pages with what each restores, kept so that another way to read addresses must agree.

python -m tests.support.link_record   # write tests/records/links.json anew: only when links shall mean something else
"""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlencode

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "records" / "links.json"

LESSON, TRAIN, RESULTS, COMPARE = "pages/lesson.py", "pages/train.py", "pages/results.py", "pages/compare.py"
LINKS: list[tuple[str, dict[str, str | list[str]]]] = [
    *(("app.py", {"sample": name}) for name in ("phantom-norm", "Gland with a lumen", "restained-crypt", "nowhere")),
    *(("app.py", {"generator": name}) for name in ("row", "SBN", "kmeansseg", "KMeansSeg", "sift", "deep", "Deep2")),
    ("app.py", {"labels": "tissue7"}),
    ("app.py", {"labels": "7 drawn phantoms", "method": "demipl"}),
    ("app.py", {"generator": "sbn", "labels": "tissue7", "method": "elimipl", "sample": "phantom-lym"}),
    ("app.py", {"generator": "sbn", "map": "attention", "opacity": "0.3", "colours": "nothing"}),
    ("app.py", {"generator": "row", "threshold": "0.5", "outlines": "true", "tool": "region"}),
    ("app.py", {"generator": "row", "candidates_from": "crowd", "crowd_seed": "7"}),
    ("app.py", {"generator": "row", "candidates_from": "By hand", "raw": "true"}),
    ("app.py", {"generatr": "row", "opacity": "9"}),
    ("pages/batch.py", {"generator": "sbn", "folder": "true"}),
    ("pages/batch.py", {"labels": "12 classes of the colon"}),
    ("pages/batch.py", {"folder": "maybe"}),
    ("pages/generators.py", {"follow": "kmeansseg", "unit": "Times an even share"}),
    ("pages/generators.py", {"sample": "phantom-str", "follow": "row", "instance": "3"}),
    ("pages/generators.py", {"instance": "99"}),
    ("pages/slide.py", {"generator": "deep", "labels": "colon"}),
    ("pages/slide.py", {"slide": "none of these"}),
    (LESSON, {"step": "picture", "kind": "drawn", "picture": "3", "pick": "4"}),
    (LESSON, {"step": "picture", "pick": "-7"}),
    (LESSON, {"step": "instances", "marks": "1.2.3", "check_marks": "true"}),
    (LESSON, {"step": "instances", "hide_instances": "true", "hide": "text"}),
    (LESSON, {"step": "labels", "r": "3", "draw": "12", "hide_true": "true"}),
    (LESSON, {"step": "labels", "field": "restained-overview"}),
    (LESSON, {"step": "both", "as_machine": "true", "r": "2", "rows": "1.2"}),
    (LESSON, {"step": "attention", "bags": "digits", "digit": "4", "epoch_attention": "20"}),
    (LESSON, {"step": "scores", "scores_of": "demipl", "temperature": "10", "instance": "2"}),
    (LESSON, {"step": "losses", "loss": "total", "sparsity": "entropy", "mu": "2", "gamma": "3"}),
    (LESSON, {"step": "losses", "start": "false", "steps": "12"}),
    (LESSON, {"step": "sparsity", "from": "level", "inhibit": "true", "steps_down": "5"}),
    (LESSON, {"step": "weights", "bag": "4 120", "epoch": "30"}),
    (LESSON, {"step": "ambiguity", "guess": "65", "shown": "true", "r_digits": "2"}),
    (LESSON, {"step": "labels", "done": "picture,instances", "class": "1"}),
    (LESSON, {"step": "nowhere", "done": "picture,nothing"}),
    ("pages/class.py", {"join": "ABCDEF"}),
    ("pages/class.py", {"class_generator": "row"}),
    (COMPARE, {"compare_data": "Digits"}),
    (COMPARE, {"compare_left": "MA", "compare_right": "DEMIPL", "compare_epoch": "40"}),
    (COMPARE, {"compare_data": "tissue-row", "compare_bag_tissue-row": "6"}),
    (COMPARE, {"compare_epoch": "-1"}),
    *((RESULTS, {"results_view": f"table {number}"}) for number in (3, 4, 5)),
    (RESULTS, {"results_view": "Figure 4: false positives"}),
    (RESULTS, {"results_data_table2": "Birdsong", "results_r_table2": "3", "results_cost": "peak MB"}),
    (RESULTS, {"results_methods_table2": ["ELIMIPL", "PRODEN-Mean"]}),
    (RESULTS, {"results_methods_table2": ""}),
    (TRAIN, {"train_data": "Digits", "train_r3": "2"}),
    (TRAIN, {"train_method": "CE", "train_epochs": "200", "train_lr": "0.05"}),
    (TRAIN, {"train_candidates": "Crowd of three", "train_candidate_seed": "4"}),
    (TRAIN, {"train_sparsity": "l1", "train_mu": "2.5", "train_gamma": "0"}),
    (TRAIN, {"train_hidden": "64", "train_batch": "8", "train_dropout": "0.5", "train_held_out": "0"}),
    (TRAIN, {"train_bag_size": "32", "train_positives": "50", "train_false_labels": "4"}),
    (TRAIN, {"train_slow": "false", "train_seed": "99", "train_generator": "row"}),
    (TRAIN, {"train_epochs": "1e400", "train_lr": "nan"}),
    ("pages/doctor.py", {"anything": "1"}),
]


def restored() -> dict[str, dict[str, object]]:
    """What is chosen under the keys of each link, what stands in the address afterwards, and what the page says."""
    return {f"{page}?{urlencode(query, doseq=True)}": _opened(page, query) for page, query in LINKS}


def _opened(page: str, query: dict[str, str | list[str]]) -> dict[str, object]:
    visit = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    if page != "app.py":
        visit.switch_page(page)
    visit.query_params.update(query)
    visit.run()
    assert not visit.exception
    chosen = {
        key: str(visit.session_state[slot]) for key in query for slot in (key, f"kept-{key}")
        if slot in visit.session_state
    }  # fmt: skip
    held = parse_qs(urlencode(visit.query_params, doseq=True), keep_blank_values=True)
    held.pop("weights", None)  # change with every training
    notices = sum(line.startswith("The link ") for item in visit.info for line in item.value.split("  \n"))
    return {"chosen": chosen, "address": held, "notices": notices}


def recorded() -> dict[str, dict[str, object]]:
    """What was kept."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


if __name__ == "__main__":
    RECORD.write_text(json.dumps(restored(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
