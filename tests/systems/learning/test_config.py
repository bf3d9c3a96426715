"""Every wrong field of a configuration is refused by file and name."""

from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.systems.learning.config import Config, read_config

WHOLE = 'release = "release-1"\nfeatures = "/data/frames.h5"\nout = "trained"\n'


def read(folder: Path, text: str) -> Config:
    (folder / "train.toml").write_text(text)
    return read_config(folder / "train.toml")


def test_paths_count_from_the_folder_of_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, WHOLE)
    assert (found.release, found.features) == (str(tmp_path / "release-1"), "/data/frames.h5")
    assert (found.top, found.seeds, found.loss.video, found.loss.positives) == (20, (0,), "nce", "top")


def test_the_schedule_is_the_papers_unless_it_is_set(tmp_path: Path) -> None:
    """TVR-Ranking, appendix C.1."""
    options = read(tmp_path, WHOLE).training
    assert (options.learning_rate, options.warmup, options.patience) == (1e-4, 0.01, 10)
    for top, epochs, every in ((1, 4000, 20), (20, 200, 1), (40, 100, 0.5)):
        found = read(tmp_path, f"{WHOLE}top = {top}")
        assert (found.epochs, found.evaluate_every) == (epochs, every)
    found = read(tmp_path, f"{WHOLE}top = 1\n[training]\nepochs = 7\nevaluate_every = 0.25")
    assert (found.epochs, found.evaluate_every) == (7, 0.25)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("top = 0", "field `top`"),
        ("tops = 1", "unknown field `tops`"),
        ("seeds = []", "field `seeds`"),
        ("seeds = [1, 1]", "field `seeds` names a seed twice: 1, 1"),
        ("rate = nan", "field `rate`"),
        ("rate = inf", "field `rate`"),
        ("[training]\nbatch = 1", "field `training.batch`"),
        ("[training]\nlearning_rate = 0", "field `training.learning_rate`"),
        ("[training]\nepoch = 3", "unknown field `epoch`"),
        ("[model]\nhidden = 30\nheads = 4", "field `model.hidden` is 30"),
        ("[training]\nevaluate_every = 0", "field `training.evaluate_every`"),
        ("[training]\nwarmup = 1", "field `training.warmup`"),
        ('[loss]\nvideo = "triplet"', "field `loss.video`"),
        ('[loss]\npositives = "all"', "field `loss.positives`"),
        ("[loss]\nmask_positives = false", 'write `positives = "own"` in its place'),
        ("[loss]\nmask_positives = true", "field `loss.mask_positives` is no longer read: take it out"),
        ('[loss]\nvideo = "crocs"', "add the table [negatives]"),
        ('[negatives]\nfolder = "negatives"', "table [negatives] is for `loss.video` crocs, not nce"),
        ("[predict]\nnms = 1.5", "field `predict.nms`"),
        ("[predict]\nalpha = 3", "field `predict.alpha` has moved: write `alpha` in the table [model]"),
        ("[training]\nprecision = 'fp16'", "field `training.precision`"),
        ("subtitle_rate = 1", "field `subtitle_rate` is for a file of `subtitles`"),
        ("system = 'none'", "there is no system 'none': the systems are mmn, crocs, "),
        ("preset = 'tvr'", "system late has no preset 'tvr': its presets are none"),
        ("[loss]\nspans = 1", "unknown field `spans` in field `loss`"),
        ("top = ", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, WHOLE + text)
    assert told in str(refusal.value)
    assert ("is not TOML" in str(refusal.value)) == (text == "top = ")
    assert str(refusal.value).startswith(str(tmp_path / "train.toml"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[model]\nheads = 4", "unknown field `heads` in field `model`"),
        ("preset = 'tvr'", "system mmn has no preset 'tvr': its presets are charades, activitynet, tacos"),
        ("[negatives]\nfolder = 'n'", "table [negatives] is not for the system mmn: take it out"),
        ("preset = 3", "has no preset 3"),
        ("preset = 'tacos'\nmodel = 3", "field `model`"),
    ],
)
def test_tables_are_those_of_the_system(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, f'{WHOLE}system = "mmn"\n{text}')
    assert told in str(refusal.value)


def test_what_a_file_says_comes_before_its_preset_and_that_before_defaults(tmp_path: Path) -> None:
    text = f'{WHOLE}system = "mmn"\npreset = "tacos"\n[model]\njoint = 7\n[training]\nbatch = 9\n'
    found = read(tmp_path, text)
    assert (found.model.joint, found.model.clips, found.training.batch, found.training.learning_rate) == (
        7,
        256,
        9,
        1.5e-3,
    )
    assert (found.training.warmup, found.loss.top) == (0.01, 3)
    assert read_config(tmp_path / "train.toml", "crocs").system == "crocs"
    with pytest.raises(InputError, match="system late has no preset 'tacos'"):
        read_config(tmp_path / "train.toml", "late")


def test_paths_of_a_system_count_from_the_folder_of_the_file_too(tmp_path: Path) -> None:
    found = read(tmp_path, f'{WHOLE}system = "conquer"\n[model]\nfirst_run = ["one.json", "/two.json"]\n')
    assert found.model.first_run == (str(tmp_path / "one.json"), "/two.json")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.toml: cannot be read"):
        read_config(tmp_path / "no.toml")
