"""The folder of a release, as it lies there, in `datasets`, on Hugging Face and in Croissant."""

import csv
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import DatasetCard
from hypothesis import example, given
from hypothesis import strategies as st

from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.release.export.freezing import export_release, read
from backend.campaign.release.export.front_matter import front_matter
from backend.campaign.release.export.licences import hub_licence, spdx_name
from backend.campaign.release.export.model import Contents, ReleaseOptions
from backend.campaign.release.export.tables import release_tables
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.release.export.validating import validate_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.project.folder import open_project
from backend.core.typed_text import is_readable
from backend.encoders import sentence
from support import NOW, Judging, WordEncoder

# Relevances 3, 2, 0, 4, 1, one that no four agree on, and one that a lead decides on.
GRADES = ((3, 3), (1, 2), (0, 0), (4, 4), (0, 1), (0, 4, 1, 3), (2, 2))
CONFIGS = ["truth", "train_top01", "train_top20", "train_top40", "grades", "pairs"]
WHOLE, NUMBER, TEXT = "int64", "float64", "string"
# As docs/formats.md has them.
GRADES_TYPES = {
    **dict.fromkeys(("pair_id", "worker", "relevance", "round", "active_ms", "elapsed_ms", "contexts"), WHOLE),
    **dict.fromkeys(("simulated", "adjudicated", "re_opened"), WHOLE),
    "graded_at": "timestamp[s, tz=UTC]",
}
PAIRS_TYPES = {
    **dict.fromkeys(("pair_id", "query_id", "rank", "relevance", "adjudicated", "released"), WHOLE),
    **dict.fromkeys(("start", "end", "duration", "similarity", "mean"), NUMBER),
    **dict.fromkeys(("split", "query", "video_name", "caption", "verdict"), TEXT),
}
MOMENT_TYPES = {"pair_id": WHOLE, "video_name": TEXT, "duration": NUMBER, "caption": TEXT, "similarity": NUMBER} | {
    "relevance": WHOLE,
    "adjudicated": "bool",
}


@pytest.fixture(scope="module")
def made(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Contents]]:
    """A release in a folder, with a second one beside it, and its content."""
    folder = tmp_path_factory.mktemp("loading")
    project = open_project(shutil.copytree(judging_made.project.folder, folder / "project"))
    judging = Judging(project, judging_made.lead, judging_made.annotators)
    pairs = judging.pairs()
    for n, pair in enumerate(pairs):
        for who, grade in enumerate(GRADES[n % len(GRADES)]):
            judging.grade(who, pair.pair, grade)
    adjudicate(project, judging.lead, pairs[6].pair, 1, "seen it", now=NOW)
    set_release_terms(project, judging.lead, licence="CC-BY-4.0", citation="@misc{us}", now=NOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        for name in ("release", "again"):
            export_release(project, OPERATOR, folder / name, now=NOW)
    yield folder / "release", read(project, ReleaseOptions())
    project.store.close()


def header(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    return found


def cells(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_the_card_says_where_the_tables_are_and_which_types_they_have(made: tuple[Path, Contents]) -> None:
    folder, _ = made
    found = header(folder)
    assert (found["license"], found["size_categories"], found["pretty_name"]) == ("cc-by-4.0", ["n<1K"], "project")
    assert [config["config_name"] for config in found["configs"]] == CONFIGS
    assert [config["config_name"] for config in found["configs"] if config.get("default")] == ["truth"]
    files = [file["path"] for config in found["configs"] for file in config["data_files"]]
    assert {(folder / name).suffix for name in files} <= {".json", ".jsonl"}, "one reader for the whole folder"
    assert all((folder / name).is_file() for name in files)
    features = {info["config_name"]: info["features"] for info in found["dataset_info"]}
    assert {field["name"]: field["dtype"] for field in features["grades"]} == GRADES_TYPES
    assert {field["name"]: field["dtype"] for field in features["pairs"]} == PAIRS_TYPES
    for config, own in (("truth", MOMENT_TYPES), ("train_top20", MOMENT_TYPES.keys() & {"video_name", "duration"})):
        number, text, moments = features[config]
        assert (number, text) == ({"name": "query_id", "dtype": WHOLE}, {"name": "query", "dtype": TEXT})
        types = {field["name"]: field.get("dtype") for field in moments["list"]}
        assert types.items() >= {name: MOMENT_TYPES[name] for name in own}.items()
        assert {"name": "timestamp", "list": NUMBER, "length": 2} in moments["list"]
    card = DatasetCard.load(folder / "README.md")
    assert (card.data.license, card.data.task_categories) == ("cc-by-4.0", ["text-retrieval"])
    assert card.text.strip().startswith("# project: graded ground truth")


@pytest.mark.parametrize("name", ["raw_annotation", "raw_query_moment_pair"])
def test_the_json_lines_are_the_csv_file_with_types(made: tuple[Path, Contents], name: str) -> None:
    folder, _ = made
    types = GRADES_TYPES | PAIRS_TYPES
    convert = {WHOLE: int, NUMBER: float}
    rows = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
    assert rows == [
        {key: None if cell == "" else convert.get(types[key], str)(cell) for key, cell in row.items()}
        for row in cells(folder / f"{name}.csv")
    ]
    assert any(value is None for row in rows for value in row.values())


def test_datasets_loads_the_folder(made: tuple[Path, Contents], tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder, _ = made
    truth = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))
    for split, file in (("validation", "val.json"), ("test", "test.json")):
        # The reader of JSON may err in the last bit of a number.
        for mine, theirs in zip(truth[split], json.loads((folder / file).read_text()), strict=True):
            for moment, expected in zip(mine["relevant_moment"], theirs["relevant_moment"], strict=True):
                assert moment.keys() == expected.keys()
                assert moment["timestamp"] == pytest.approx(expected["timestamp"])
                assert (moment["pair_id"], moment["relevance"]) == (expected["pair_id"], expected["relevance"])
    for config in CONFIGS[1:]:
        (rows,) = datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path)).values()
        assert rows.num_rows > 0
        assert len(rows.features) in (3, len(GRADES_TYPES), len(PAIRS_TYPES))
    assert {name: str(field.dtype) for name, field in rows.features.items()} == PAIRS_TYPES


def test_croissant_names_every_file_and_every_field(made: tuple[Path, Contents]) -> None:
    folder, _ = made
    found = json.loads((folder / "croissant.json").read_text())
    assert (found["@type"], found["conformsTo"]) == ("sc:Dataset", "http://mlcommons.org/croissant/1.0")
    assert found["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert (found["citeAs"], found["datePublished"], found["version"]) == ("@misc{us}", "2026-09-21", "2026.9.21")
    files = {path.name for path in folder.iterdir()} - {"croissant.json", "manifest.json"}
    assert {file["@id"] for file in found["distribution"]} == files
    for file in found["distribution"]:
        data = (folder / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(data).hexdigest()
        assert file["contentSize"] == f"{len(data)} B"
    sets = {record_set["@id"]: record_set["field"] for record_set in found["recordSet"]}
    assert list(sets) == ["val", "test", *CONFIGS[1:4], "raw_annotation", "raw_query_moment_pair"]
    kinds = {WHOLE: "sc:Integer", NUMBER: "sc:Float", TEXT: "sc:Text", "bool": "sc:Boolean"}
    kinds["timestamp[s, tz=UTC]"] = "sc:DateTime"
    for name, types in (("raw_annotation", GRADES_TYPES), ("raw_query_moment_pair", PAIRS_TYPES)):
        assert {field["name"]: field["dataType"] for field in sets[name]} == {
            key: kinds[kind] for key, kind in types.items()
        }
        assert {field["source"]["fileObject"]["@id"] for field in sets[name]} == {f"{name}.csv"}
    moments = sets["val"][2]
    assert (moments["@id"], moments["repeated"]) == ("val/relevant_moment", True)
    assert {field["name"]: field["dataType"] for field in moments["subField"]} == {
        "timestamp": "sc:Float",
        **{name: kinds[kind] for name, kind in MOMENT_TYPES.items()},
    }


def test_mlcroissant_takes_it_without_a_warning_and_reads_its_records(made: tuple[Path, Contents]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    folder, _ = made
    found = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    issues = found.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    for mine, theirs in zip(found.records("val"), json.loads((folder / "val.json").read_text()), strict=True):
        relevances = [moment["val/relevant_moment/relevance"] for moment in mine["val/relevant_moment"]]
        assert relevances == [moment["relevance"] for moment in theirs["relevant_moment"]]
    for name in ("raw_annotation", "raw_query_moment_pair"):
        for mine, row in zip(found.records(name), cells(folder / f"{name}.csv"), strict=True):
            assert str(mine[f"{name}/pair_id"]) == row["pair_id"]
            assert mine[f"{name}/relevance"] == (int(row["relevance"]) if row["relevance"] else None)


def test_the_same_state_gives_the_same_bytes_and_validate_accepts_them(made: tuple[Path, Contents]) -> None:
    folder, _ = made
    for name in ("README.md", "croissant.json", "manifest.json", "raw_annotation.jsonl"):
        assert (folder / name).read_bytes() == (folder.parent / "again" / name).read_bytes()
    files = json.loads((folder / "manifest.json").read_text())["files"]
    assert {path.name for path in folder.iterdir()} == {*files, "manifest.json"}
    assert files["croissant.json"] == hashlib.sha256((folder / "croissant.json").read_bytes()).hexdigest()
    assert validate_release(folder).problems == []


def test_a_table_without_rows_is_not_offered(made: tuple[Path, Contents]) -> None:
    _, contents = made
    only_val = replace(contents, truth={**contents.truth, Split.TEST: []})
    tables = release_tables(only_val, ["train_top01.json"])
    assert [(table.config, table.split) for table in tables] == [
        *(("truth", "validation"), ("train_top01", "train"), ("grades", "grades"), ("pairs", "pairs")),
    ]


@given(st.text(max_size=40).filter(is_readable), st.text(max_size=40).filter(is_readable))
@example('a: {b}\u2028# "c" ---\n\ufeff\x85', "'other' \\ %TAG").via("what YAML reads as something else")
def test_no_name_and_no_licence_makes_the_yaml_invalid(made: tuple[Path, Contents], name: str, licence: str) -> None:
    _, contents = made
    hostile = replace(contents, name=name, terms=replace(contents.terms, licence=licence))
    text = front_matter(hostile, release_tables(hostile, []))
    assert text.startswith("---\n")
    assert text.endswith("\n---\n\n")
    found = yaml.safe_load(text[4:-5])
    assert found["pretty_name"] == name
    assert [config["config_name"] for config in found["configs"]] == ["truth", "grades", "pairs"]


# What https://huggingface.co/docs/hub/repositories-licenses lists for data, code and fonts.
HUB = {
    *("apache-2.0", "mit", "afl-3.0", "artistic-2.0", "bsl-1.0", "bsd-2-clause", "bsd-3-clause", "bsd-3-clause-clear"),
    *("c-uda", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
    *("cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0"),
    *("cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cdla-sharing-1.0", "cdla-permissive-1.0"),
    *("cdla-permissive-2.0", "wtfpl", "ecl-2.0", "epl-1.0", "epl-2.0", "etalab-2.0", "eupl-1.1", "agpl-3.0"),
    *("gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0", "isc", "lppl-1.3c", "ms-pl", "mpl-2.0", "odc-by", "odbl"),
    *("osl-3.0", "postgresql", "ofl-1.1", "ncsa", "unlicense", "zlib", "pddl"),
}


def test_a_licence_is_called_as_the_hub_calls_it() -> None:
    from backend.campaign.release.export import licences

    assert {hub_licence(name)["license"] for name in licences._SPDX} == HUB
    assert hub_licence("MIT") == hub_licence(" mit ") == {"license": "mit"}
    assert hub_licence("CC-BY-ND-2.0") == {"license": "other", "license_name": "cc-by-nd-2.0"}
    assert hub_licence("仅供研究") == {"license": "other", "license_name": "custom"}
    assert hub_licence("") == {}
    assert spdx_name("odbl-1.0") == "ODbL-1.0"
