import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from bag_generators.errors import InputError
from elimipl.config import PRESETS, Config
from elimipl.methods.networks import VARIANTS, variant

MODELS = Path(__file__).resolve().parents[2] / "assets" / "models"
WORDS = [name for name in Config.model_fields if Config.choices(name) and name not in ("method", "preset_name")]


def test_paper_preset_is_the_paper_as_written():
    config = Config.preset("paper")
    assert (config.gate, config.score, config.head, config.sparsity) == ("two", "linear", "softmax", "l1")
    assert (config.schedule, config.update, config.dropout, config.nesterov) == ("paper", "before_loss", 0, False)
    assert (config.mu, config.gamma, config.epochs, config.hidden) == (10, 10, 100, 512)


def test_published_preset_is_what_the_authors_code_does():
    config = Config.preset("published")
    assert (config.gate, config.score, config.head) == ("shared", "mlp", "softmax_of_sigmoid")
    assert (config.schedule, config.update, config.dropout) == ("published", "after_loss", 0.5)
    assert (config.batch, config.nesterov, config.lr) == (1, True, 0.01)


@pytest.mark.parametrize("preset", PRESETS)
def test_demipl_is_a_method_of_every_preset(preset):
    config = Config.preset(preset, method="demipl")
    assert (config.pooling, config.mu, config.gamma) == ("sigmoid_normalised", 0, 0)
    assert config.attention_entropy == 0.001
    assert config.head == Config.preset(preset).head


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("method", Config.choices("method"))
def test_pictures_are_not_standardised_pixel_by_pixel(preset, method):
    assert Config.preset(preset, method=method).scaling == "zscore"
    assert Config.preset(preset, method=method, extractor="cnn").scaling == "global"
    assert Config.preset(preset, method=method, extractor="cnn", scaling="none").scaling == "none"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("method", Config.choices("method"))
def test_survives_json(preset, method):
    config = Config.preset(preset, method=method, seed=3)
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_missing_settings_come_from_the_named_preset():
    assert Config.from_dict({"preset_name": "published", "epochs": 7}) == Config.preset("published", epochs=7)


def test_is_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        Config().epochs = 3


@pytest.mark.parametrize("make", [Config.preset, lambda _, **values: Config.from_dict(values)])
def test_a_typo_is_refused_with_a_suggestion(make):
    with pytest.raises(InputError, match=r"There is no setting 'epoch'\. Did you mean 'epochs'\?"):
        make("paper", epoch=3)


def test_an_unknown_name_lists_the_settings():
    with pytest.raises(InputError, match="The settings are seed, method, preset_name, extractor"):
        Config.preset("paper", zzz=1)


@pytest.mark.parametrize("name", WORDS)
def test_a_wrong_choice_names_the_right_ones(name):
    with pytest.raises(InputError, match=f"{name} can't be 'nonsense'. Choose one of {Config.choices(name)[0]}"):
        Config.preset("paper", **{name: "nonsense"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0),
        ("epochs", 2.5),
        ("epochs", True),
        ("hidden", "512"),
        ("lr", 0),
        ("lr", float("nan")),
        ("lr", float("inf")),
        ("mu", -1),
        ("dropout", 1.0),
        ("batch", 0),
        ("cosine", 1),
        ("seed", -1),
        ("momentum", 1),
    ],
)
def test_a_wrong_number_is_refused(name, value):
    with pytest.raises(InputError, match=f"{name} can't be"):
        Config.preset("paper", **{name: value})


def test_unknown_preset_method_and_variant_are_refused():
    with pytest.raises(InputError, match=r"preset can't be 'papers'\. Choose one of paper, published, default"):
        Config.preset("papers")
    with pytest.raises(InputError, match="method can't be 'miplgp'"):
        Config.preset("paper", method="miplgp")
    with pytest.raises(InputError, match=r"There is no variant 'XY'\. Choose one of MA"):
        variant(Config(), "XY")


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="DEMIPL has pooling='sigmoid_normalised', but pooling is 'softmax_scaled'"):
        Config.preset("paper", method="demipl", pooling="softmax_scaled")
    with pytest.raises(InputError, match="Nesterov"):
        Config.preset("published", momentum=0)


@pytest.mark.parametrize(
    ("name", "mapping", "mu", "gamma"),
    [
        ("MA", "momentum", 0, 0),
        ("MA+SP", "momentum", 10, 0),
        ("MA+IN", "momentum", 0, 10),
        ("CE", "average", 0, 0),
        ("CE-SP-IN", "average", 10, 10),
    ],
)
def test_variants_of_the_ablations(name, mapping, mu, gamma):
    assert name in VARIANTS
    config = variant(Config.preset("paper"), name)
    assert (config.mapping, config.mu, config.gamma) == (mapping, mu, gamma)


def test_schedules():
    paper, published = Config(epochs=4, schedule="paper"), Config(epochs=4, schedule="published")
    assert [paper.rho(t) for t in (1, 2, 3, 4)] == [0.75, 0.5, 0.25, 0]
    assert [published.rho(t) for t in (1, 2, 3, 4)] == [1, 0.75, 0.5, 0.25]


def test_learning_rate_follows_half_a_cosine():
    config = Config(epochs=4, lr=0.2)
    assert config.learning_rate(1) == pytest.approx(0.2)
    assert config.learning_rate(3) == pytest.approx(0.1)
    assert 0 < config.learning_rate(4) < 0.05
    assert Config(epochs=4, lr=0.2, cosine=False).learning_rate(4) == 0.2


@pytest.mark.parametrize("preset", PRESETS)
def test_the_rate_of_a_preset_follows_a_smaller_batch(preset):
    usual = Config.preset(preset)
    assert Config.preset(preset, batch=usual.batch).lr == usual.lr
    assert Config.preset(preset, batch=2 * usual.batch).lr == usual.lr
    assert Config.preset(preset, batch=1).lr == usual.lr / usual.batch
    assert Config.preset(preset, batch=1, lr=0.3).lr == 0.3
    assert usual.replace(batch=1).lr == usual.lr
    assert Config.from_dict(Config.preset(preset, batch=1, lr=0.3).to_dict()).lr == 0.3


def test_a_loss_of_others_is_named_and_must_be_there():
    assert Config().loss == "cli"
    assert "loss" not in Config().to_dict()  # as in files from before there was a choice
    with pytest.raises(InputError, match=r"There is no loss 'focl'\. Choose one of cli"):
        Config.preset("default", loss="focl")
    with pytest.raises(InputError, match=r"There is no loss \[1\]"):
        Config.preset("default", loss=[1])
    read = Config.from_dict({**Config().to_dict(), "loss": "of a package that is not here"})
    assert read.to_dict()["loss"] == "of a package that is not here"
    with pytest.raises(InputError, match="loss can't be 3"):
        Config.from_dict({"loss": 3})


def test_the_settings_of_every_shipped_card_come_back():
    for path in sorted(MODELS.glob("*.json")):
        written = json.loads(path.read_text(encoding="utf-8"))["config"]
        again = Config.from_dict(written).to_dict()
        assert again == {**again, **written}, path.stem


def test_files_from_before_a_rare_switch_mean_off():
    assert "amp" not in Config.preset("default").to_dict()
    assert Config.from_dict(Config.preset("default", amp=True).to_dict()).amp
