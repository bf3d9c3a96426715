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
    assert (found.top, found.seeds, found.loss.video) == (20, (0,), "nce")


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
        ('[loss]\nvideo = "triplet"', "field `loss.video`"),
        ('[loss]\nvideo = "crocs"', "add the table [negatives]"),
        ('[negatives]\nfolder = "negatives"', "table [negatives] is for `loss.video` crocs, not nce"),
        ("[predict]\nnms = 1.5", "field `predict.nms`"),
        ("top = ", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError) as refusal:
        read(tmp_path, WHOLE + text)
    assert told in str(refusal.value)
    assert str(refusal.value).startswith(str(tmp_path / "train.toml"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.toml: cannot be read"):
        read_config(tmp_path / "no.toml")
