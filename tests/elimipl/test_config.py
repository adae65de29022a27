import json
from pathlib import Path

import pytest

from bag_generators.base.errors import InputError
from elimipl.config import PRESETS, Config
from elimipl.methods.networks import variant

MODELS = Path(__file__).resolve().parents[2] / "assets" / "models"
WORDS = [name for name in Config.model_fields if Config.choices(name) and name not in ("method", "preset_name")]


def test_presets_are_the_paper_as_written_and_what_the_authors_code_does():
    config = Config.preset("paper")
    assert (config.gate, config.score, config.head, config.sparsity) == ("two", "linear", "softmax", "l1")
    assert (config.schedule, config.update, config.dropout, config.nesterov) == ("paper", "before_loss", 0, False)
    assert (config.mu, config.gamma, config.epochs, config.hidden) == (10, 10, 100, 512)
    config = Config.preset("published")
    assert (config.gate, config.score, config.head) == ("shared", "mlp", "softmax_of_sigmoid")
    assert (config.schedule, config.update, config.dropout) == ("published", "after_loss", 0.5)
    assert (config.batch, config.nesterov, config.lr) == (1, True, 0.01)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_method_of_every_preset_survives_json_and_scales_pictures_as_a_whole(preset):
    for method in Config.choices("method"):
        config = Config.preset(preset, method=method, seed=3)
        assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config
        assert config.scaling == "zscore"
        assert Config.preset(preset, method=method, extractor="cnn").scaling == "global"
        assert Config.preset(preset, method=method, extractor="cnn", scaling="none").scaling == "none"
    demipl = Config.preset(preset, method="demipl")
    assert (demipl.pooling, demipl.mu, demipl.gamma, demipl.attention_entropy) == ("sigmoid_normalised", 0, 0, 0.001)
    assert demipl.head == Config.preset(preset).head


def test_files_of_every_age_come_back():
    assert Config.from_dict({"preset_name": "published", "epochs": 7}) == Config.preset("published", epochs=7)
    assert not {"amp", "loss"} & set(Config.preset("default").to_dict())  # files from before these were a choice
    assert Config.from_dict(Config.preset("default", amp=True).to_dict()).amp
    for path in sorted(MODELS.glob("*.json")):
        written = json.loads(path.read_text(encoding="utf-8"))["config"]
        again = Config.from_dict(written).to_dict()
        assert again == {**again, **written}, path.stem


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        *(
            ({name: "nonsense"}, rf"{name} can't be 'nonsense'\. Choose one of {Config.choices(name)[0]}")
            for name in WORDS
        ),
        *(
            ({name: value}, f"{name} can't be")
            for name, values in {
                "epochs": (0, 2.5, True),
                "hidden": ("512",),
                "lr": (0, float("nan"), float("inf")),
                "mu": (-1,),
                "dropout": (1.0,),
                "batch": (0,),
                "cosine": (1,),
                "seed": (-1,),
                "momentum": (1,),
                "method": ("miplgp",),
            }.items()
            for value in values
        ),
        ({"epoch": 3}, r"There is no setting 'epoch'\. Did you mean 'epochs'\?"),
        ({"zzz": 1}, "The settings are seed, method, preset_name, extractor"),
        ({"nesterov": True, "momentum": 0}, "Nesterov"),
        ({"method": "demipl", "pooling": "softmax_scaled"}, "DEMIPL has pooling='sigmoid_normalised', but pooling is"),
        ({"method": "cdl-sam-cn", "loss": "cdl-cc"}, r"has loss='cdl-cn', but loss is 'cdl-cc'\. Remove the loss"),
        ({"loss": "focl"}, r"There is no loss 'focl'\. Choose one of cli"),
        ({"loss": [1]}, r"There is no loss \[1\]"),
        ({"attention": "nobodys"}, "There is no attention 'nobodys'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_in_a_sentence(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        Config.preset("paper", **settings)


def test_what_a_file_names_may_be_missing_but_not_malformed():
    read = Config.from_dict({**Config().to_dict(), "loss": "of a package that is not here"})
    assert read.to_dict()["loss"] == "of a package that is not here"
    with pytest.raises(InputError, match="loss can't be 3"):
        Config.from_dict({"loss": 3})
    with pytest.raises(InputError, match="Did you mean 'epochs'"):
        Config.from_dict({"epoch": 3})
    with pytest.raises(InputError, match=r"preset can't be 'papers'\. Choose one of paper, published, default"):
        Config.preset("papers")


def test_variants_of_the_ablations():
    for name, expected in {
        "MA": ("momentum", 0, 0),
        "MA+SP": ("momentum", 10, 0),
        "MA+IN": ("momentum", 0, 10),
        "CE": ("average", 0, 0),
        "CE-SP-IN": ("average", 10, 10),
    }.items():
        config = variant(Config.preset("paper"), name)
        assert (config.mapping, config.mu, config.gamma) == expected
    with pytest.raises(InputError, match=r"There is no variant 'XY'\. Choose one of MA"):
        variant(Config(), "XY")


def test_schedules():
    paper, published = Config(epochs=4, lr=0.2), Config(epochs=4, lr=0.2, schedule="published", cosine=False)
    assert [paper.rho(t) for t in (1, 2, 3, 4)] == [0.75, 0.5, 0.25, 0]
    assert [published.rho(t) for t in (1, 2, 3, 4)] == [1, 0.75, 0.5, 0.25]
    assert [paper.learning_rate(t) for t in (1, 3)] == [pytest.approx(0.2), pytest.approx(0.1)]
    assert 0 < paper.learning_rate(4) < 0.05
    assert published.learning_rate(4) == 0.2
    assert [paper.tau(t) for t in (0, 1, 100)] == [5, pytest.approx(4.75), 0.1]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_rate_of_a_preset_follows_a_smaller_batch(preset):
    usual = Config.preset(preset)
    assert Config.preset(preset, batch=usual.batch).lr == usual.lr
    assert Config.preset(preset, batch=2 * usual.batch).lr == usual.lr
    assert Config.preset(preset, batch=1).lr == usual.lr / usual.batch
    assert Config.preset(preset, batch=1, lr=0.3).lr == 0.3
    assert usual.replace(batch=1).lr == usual.lr
    assert Config.from_dict(Config.preset(preset, batch=1, lr=0.3).to_dict()).lr == 0.3
