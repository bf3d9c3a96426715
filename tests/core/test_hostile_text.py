"""Text that decoders choke on, given to everything that reads a file: a refusal that names it, or it was fine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from backend.campaign.corpus.importing import formats
from backend.campaign.release.earlier.rules.raw_annotation import read_raw
from backend.campaign.release.export import diffing, validating
from backend.campaign.release.statistics import from_files
from backend.campaign.selection.pools.files import read_labelled, read_thresholds
from backend.campaign.setup.project import scale_file
from backend.campaign.setup.project.places import SETTINGS_FILE
from backend.campaign.setup.project.settings_file import read_settings
from backend.campaign.setup.project.settings_text import template
from backend.core.errors import ReelRankError
from backend.scoring.benchmarks.qvhighlights import read_predicted_saliency, read_saliency
from backend.scoring.files.facts import read_facts
from backend.scoring.files.formats import read_run, read_tasks, read_truth, read_videos
from backend.scoring.pools.files import read_pools
from backend.scoring.run_files import read_run_list
from backend.scoring.trec import pair_ids

DEEP = b"[" * 100_000 + b"]" * 100_000
DEEPER = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
DIGITS = b"9" * 5000
"""More than Python turns into a number."""
LARGE = b"9" * 400
"""More than fits a float."""


def truth(value: bytes, where: int = 0) -> bytes:
    values = [b"1", b"0", b"5", b"2", b"9"]
    values[where] = value
    return (
        b'[{"query_id": %s, "query": "q", "relevant_moment": [{"pair_id": 1, "video_name": "v", "timestamp": [%s, %s], '
        b'"relevance": %s, "duration": %s, "caption": "c", "similarity": 1}]}]' % tuple(values)
    )


ODD = [DEEP, DEEPER, DIGITS, LARGE, b"1e999", b"-" + LARGE, b"18446744073709551616", b'"\\ud800"', b"\xff", b"\x00"]
CONTENTS = [
    *ODD,
    b'{"query_id": 1, "x": ' + DEEP + b"}\n",
    b'{"a": ' + DEEP + b', "b": 1}',
    b'{"v": {"duration": ' + DIGITS + b', "timestamps": [[0, ' + DIGITS + b']], "sentences": ["a"]}}',
    b'{"v": {"duration": 9, "timestamps": ' + DEEP + b', "sentences": ["a"]}}',
    b'{"v": [1, ' + DIGITS + b"]}",
    b'{"v": [' + LARGE + b", 99999999999999999999]}",
    b'{"1": [["v", 0, ' + DIGITS + b", " + LARGE + b"]]}",
    b'{"1": [[99999999999999999999999, 0, 1, ' + LARGE + b"]]}",
    b'{"VCMR": ' + DEEP + b', "video2idx": {"v": ' + DIGITS + b"}}",
    b'{"qid": 1, "vid": "v", "relevant_windows": [[0, ' + LARGE + b']], "saliency_scores": ' + DEEP + b"}\n",
    b'{"qid": 1, "pred_saliency_scores": [' + DIGITS + b"]}\n",
    b"pair_id,worker,relevance\n" + DIGITS + b"," + DIGITS + b"," + DIGITS + b"\n",
    b"query_id,video,start,end,score\n1,v,0," + DIGITS + b',"' + b"a" * 200_000 + b'"\n',
    b"A\tB\t" + DIGITS + b"\n",
    b"v 0 " + LARGE + b"##a person sits.\n",
    *(truth(value, where) for value in ODD for where in range(5)),
]
TOML = [
    b"x = " + DEEP,
    b"a" + b".a" * 1500 + b" = 1",
    b"lease_minutes = " + DIGITS,
    b"lease_minutes = inf",
    b"[clips]\ncache_gb = inf",
    b"[pay]\nhourly_rate = 1e300",
    b"name = '\x00'",
    b"\xff",
]


def settings_of(path: Path) -> object:
    path.rename(path.with_name(SETTINGS_FILE))
    return read_settings(path.parent)


def folder_of(name: str, read: Callable[[Path], object]) -> Callable[[Path], object]:
    def reader(path: Path) -> object:
        for other in ("val.json", "video_corpus.json", "raw_annotation.csv", "manifest.json"):
            if other == name:
                (path.parent / other).write_bytes(path.read_bytes())
        path.unlink()
        return read(path.parent)

    return reader


READERS: dict[str, Callable[[Path], object]] = {
    "truth": read_truth,
    "run": read_run,
    "tasks": read_tasks,
    "map": read_videos,
    "facts": lambda path: read_facts(path, path),
    "saliency": read_saliency,
    "predicted": read_predicted_saliency,
    "pools": read_pools,
    "pair ids": lambda path: pair_ids(path.read_bytes(), read_truth(path)),
    "labelled": read_labelled,
    "thresholds": read_thresholds,
    "raw": lambda path: read_raw(path.read_bytes(), path.name),
    "told corpus": lambda path: formats.parse(None, path.read_bytes(), path.name),
    **{
        f"corpus {name}": lambda path, name=name: formats.parse(name, path.read_bytes(), path.name)
        for name in formats.FORMATS
    },
    "validate truth": folder_of("val.json", validating.validate_release),
    "validate map": folder_of("video_corpus.json", validating.validate_release),
    "validate manifest": folder_of("manifest.json", validating.validate_release),
    "diff": folder_of("val.json", diffing.read),
    "statistics": folder_of("video_corpus.json", from_files.read_release),
}
TOML_READERS: dict[str, Callable[[Path], object]] = {
    "settings": settings_of,
    "scale": scale_file.read,
    "runs": read_run_list,
}


@pytest.mark.parametrize("reader", READERS)
def test_json_and_tables_are_refused_by_name_and_never_crash(tmp_path: Path, reader: str) -> None:
    assert crashes(READERS[reader], CONTENTS, tmp_path) == []


@pytest.mark.parametrize("reader", TOML_READERS)
def test_toml_is_refused_by_name_and_never_crashes(tmp_path: Path, reader: str) -> None:
    usual = template().format(name='"a"', encoder='"minilm"', encoder_kind='"minilm"', cast="").encode()
    lines = [*TOML, *(usual.replace(b"lease_minutes = 15", one) for one in TOML)]
    assert crashes(TOML_READERS[reader], lines, tmp_path) == []


def crashes(read: Callable[[Path], object], contents: list[bytes], folder: Path) -> list[str]:
    """What went otherwise than it should: the content's number, and how."""
    found = []
    for number, content in enumerate(contents):
        place = folder / str(number)
        place.mkdir()
        path = place / "odd.json"
        path.write_bytes(content)
        try:
            read(path)
        except ReelRankError as refusal:
            if ".json" not in str(refusal) and ".toml" not in str(refusal) and ".csv" not in str(refusal):
                found.append(f"{number}: says no file: {refusal}")
        except Exception as error:
            found.append(f"{number} {content[:60]!r}: {type(error).__name__}: {str(error)[:60]}")
    return found
