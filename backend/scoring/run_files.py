"""Read which runs to score: files with names, or a list that gives each run's model, variant, seed and split.

Reads: the list. `scored_files` reads the runs themselves.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from backend.core.errors import InputError, Problem
from backend.core.reading import UNDECODABLE, file_bytes
from backend.core.typed_text import nfc
from backend.scoring.files.release_folder import SPLITS, choose_truth


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run's file. Runs that differ only in their `seed` share a table row, with their mean and standard deviation.

    `name` is used in tables and messages; if empty, the run gets the name of its file. An `upper_bound` uses
    information that no competing system has, such as captions, so it is never ranked.
    """

    path: Path
    name: str = ""
    model: str = ""
    variant: str = ""
    seed: str = ""
    split: str = ""
    upper_bound: bool = False

    @property
    def facts(self) -> dict[str, str]:
        """The model, variant, seed and split, by these names, for the run's summary. Empty ones are left out."""
        found = {"model": self.model, "variant": self.variant, "seed": self.seed, "split": self.split}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class RunList:
    """The runs to score, and the truth file of each split (such as `val` and `test`).

    Without splits, `splits` has one empty name. `truths` maps a split to its truth file; it is empty if the list names
    none. `variant_title` is the title of the column of variants.
    """

    runs: tuple[RunFile, ...]
    splits: Sequence[str] = ("",)
    truths: Mapping[str, Path] = field(default_factory=dict)
    videos: Path | None = None
    variant_title: str = ""

    def of(self, split: str) -> list[RunFile]:
        """Return the runs of one split, such as `val`."""
        return [run for run in self.runs if run.split == split]


class _Run(msgspec.Struct, forbid_unknown_fields=True):
    file: str | dict[str, str]
    name: str = ""
    model: str = ""
    variant: str | int | float = ""
    seed: str | int = ""
    split: str = ""
    upper_bound: bool = False


class _List(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a list of runs, see `read_run_list`."""

    run: list[_Run]
    truth: str | dict[str, str] = ""
    videos: str = ""
    variant: str = ""


def named_files(given: Iterable[str | Path | RunFile]) -> list[RunFile]:
    """Return runs with names, from paths, texts `NAME=FILE` or `FILE`, or `RunFile` objects.

    If a text with `=` is the path of an existing file, it is not split. A run without a name gets its file's name
    without the ending, or its path if two files have the same name.

    Raises:
        InputError: lists the names that are given twice.

    >>> [(run.name, run.path.name) for run in named_files(["Ours=runs/a.json", "b.json"])]
    [('Ours', 'a.json'), ('b', 'b.json')]
    """
    runs = [
        _from_text(one) if isinstance(one, str) else RunFile(one) if isinstance(one, Path) else one for one in given
    ]
    stems = Counter(nfc(run.path.stem) for run in runs if not run.name)
    named = [
        replace(run, name=nfc(run.name or (run.path.stem if stems[nfc(run.path.stem)] == 1 else str(run.path))))
        for run in runs
    ]
    twice = sorted(name for name, count in Counter(run.name for run in named).items() if count > 1)
    if twice:
        raise InputError([Problem(name, None, "is given twice") for name in twice])
    return named


def read_run_list(path: Path | str) -> RunList:
    """Read a list of runs from a TOML file; paths in it are relative to its folder.

        truth = "val.json"                # or one for each split: truth = {val = "val.json", test = "test.json"};
                                          # or the folder of a release, which has one for each
        videos = "video_corpus.json"      # optional: name -> [duration, index]
        variant = "Training set"          # optional: title of the column of variants

        [[run]]
        file = "xml_20.json"              # or one for each split: file = {val = "a.json", test = "b.json"}
        model = "XML"                     # the others are optional: model, variant, seed, split, name
        variant = "top 20"
        seed = 1
        split = "val"
        upper_bound = false               # true: it uses information that no competing system has

    Raises:
        InputError: lists all problems of the list; `row` is the number of the run.
    """
    path = Path(path)
    data = file_bytes(path)
    try:
        content = msgspec.toml.decode(data, type=_List)
    except UNDECODABLE as error:
        raise InputError.single(path, f"is not a list of runs: {error}") from None
    problems: list[Problem] = []
    runs: dict[tuple[str, str], RunFile] = {}
    used: set[tuple[str, ...]] = set()
    for row, entry in enumerate(content.run, start=1):
        files = {entry.split: entry.file} if isinstance(entry.file, str) else entry.file
        if not isinstance(entry.file, str) and entry.split:
            problems.append(Problem(str(path), row, "give `split`, or `file` with one for each split, not both"))
        for split, file in files.items():
            run = _run_file(entry, path.parent / file, split)
            if not isinstance(content.truth, str) and split not in content.truth:
                problems.append(Problem(str(path), row, _no_truth(split, content.truth)))
            row_of_table = (split, run.model or run.name, run.variant, run.seed)
            if (split, run.name) in runs or row_of_table in used:
                what = "the same model, variant, seed and split are" if row_of_table in used else f"{run.name!r} is"
                problems.append(Problem(str(path), row, f"{what} already given; tell runs apart by `seed` or `name`"))
            runs[split, run.name] = run
            used.add(row_of_table)
    splits = list(dict.fromkeys(run.split for run in runs.values()))
    if isinstance(content.truth, str) and len(splits) > 1 and not (path.parent / content.truth).is_dir():
        parts = ", ".join(f"{split or 'val'} = FILE" for split in splits)
        problems.append(Problem(str(path), None, f"has runs of several splits: write truth = {{{parts}}}"))
    if not content.run:
        problems.append(Problem(str(path), None, "names no run: give at least one [[run]] with its file"))
    if problems:
        raise InputError(problems)
    truths = dict.fromkeys(splits, content.truth) if isinstance(content.truth, str) else content.truth
    truth_paths = {split: path.parent / truths[split] for split in splits if truths[split]}
    videos = path.parent / content.videos if content.videos else None
    return resolve_releases(RunList(tuple(runs.values()), splits, truth_paths, videos, content.variant))


def resolve_releases(runs: RunList) -> RunList:
    """Return the list with each folder of a release replaced by the truth file in it, `val.json` or `test.json`.

    A release is a folder of published judgements, with a truth file for each split.

    Raises:
        InputError: a folder is no release, or lacks the truth of a split.
    """
    chosen = {
        split: choose_truth(truth, videos=runs.videos, split=split if split in SPLITS else None)
        for split, truth in runs.truths.items()
        if split in SPLITS or not truth.is_dir()
    }
    maps = [truth_file.videos for truth_file in chosen.values() if truth_file.videos]
    truths = {split: chosen[split].path if split in chosen else truth for split, truth in runs.truths.items()}
    return replace(runs, truths=truths, videos=runs.videos or next(iter(maps), None))


def _from_text(text: str) -> RunFile:
    name, equals, file = text.partition("=")
    if not equals or Path(text).exists():
        return RunFile(Path(text))
    if not name.strip() or not file:
        raise InputError.single(text, "is not NAME=FILE")
    return RunFile(Path(file), name.strip())


def _run_file(entry: _Run, path: Path, split: str) -> RunFile:
    variant, seed = str(entry.variant), str(entry.seed)
    parts = [entry.model, variant, seed and f"seed {seed}"]
    name = entry.name or (" ".join(part for part in parts if part) if entry.model else path.stem)
    return RunFile(path, name, entry.model, variant, seed, split, entry.upper_bound)


def _no_truth(split: str, truths: Mapping[str, str]) -> str:
    splits = ", ".join(truths)
    if split:
        return f"split {split!r} has no truth; there is one for {splits}"
    return f"has no split, but there is a truth for each of {splits}; give its `split`"
