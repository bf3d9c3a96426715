"""What is read of annotation files, releases and projects, against the same files counted with json and sets."""

import json
from collections import Counter
from pathlib import Path

import pytest

from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.statistics.from_files import file_statistics, training_figures
from backend.campaign.release.statistics.from_project import project_statistics
from backend.campaign.release.statistics.rules import Spread
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, ProjectError
from support import MOMENTS, NOW, PARTLY, Judging

EXAMPLES = Path(__file__).parents[4] / "assets/example/corpora"


def write_jsonl(path: Path, *lines: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def line(video: str, start: float, end: float, caption: str, **more: object) -> dict[str, object]:
    return {"video": video, "start": start, "end": end, "caption": caption, **more}


def test_files_are_counted_together(tmp_path: Path) -> None:
    train = write_jsonl(
        tmp_path / "train.jsonl", line("a", 0, 2, "A dog ran.", duration=10), line("b", 1, 2, "A cat sat.")
    )
    val = write_jsonl(tmp_path / "val.jsonl", line("a", 0, 2, "The dog."), line("b", 1, 3, "A dog ran.", duration=20.4))
    row = file_statistics([train, val])
    assert row.parts == {"train.jsonl": 2, "val.jsonl": 2}
    assert (row.queries, row.distinct_queries, row.pairs, row.moments, row.videos) == (4, 3, 4, 3, 2)
    assert row.vocabulary == len({"a", "dog", "ran", "cat", "sat", "the"})
    assert row.verbs_at_least == len({"run", "sit"})
    assert row.mean_video_s == pytest.approx((10 + 20.4) / 2)


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    files = [tmp_path / split / "m.jsonl" for split in ("train", "val")]
    for file in files:
        file.parent.mkdir()
        write_jsonl(file, line("a", 0, 2, "A dog ran."))
    row = file_statistics(files)
    assert row.parts == {str(files[0]): 1, str(files[1]): 1}
    assert (row.queries, row.moments, row.mean_pair_s) == (2, 1, 2.0)


def test_every_problem_of_every_file_is_told(tmp_path: Path) -> None:
    good = write_jsonl(tmp_path / "1.jsonl", line("a", 0, 2, "x", duration=10))
    other = write_jsonl(tmp_path / "2.jsonl", line("a", 0, 2, "x", duration=12))
    bad = write_jsonl(tmp_path / "3.jsonl", line("a", 3, 2, "x"), line("a", 1, 2, " "))
    with pytest.raises(InputError) as refusal:
        file_statistics([good, other, bad])
    assert [(problem.file, problem.row) for problem in refusal.value.problems] == [
        ("2.jsonl", 1),
        ("3.jsonl", 1),
        ("3.jsonl", 2),
    ]
    with pytest.raises(InputError, match="is named twice"):
        file_statistics([good, good])
    with pytest.raises(InputError, match="is a folder: name it alone"):
        file_statistics([good, tmp_path])
    with pytest.raises(InputError, match=r"neither a project .* nor a release"):
        file_statistics([tmp_path])


def test_windows_of_one_query_are_moments_of_one_query() -> None:
    file = EXAMPLES / "qvhighlights.jsonl"
    entries = [json.loads(text) for text in file.read_text().splitlines()]
    asked = [entry for entry in entries if entry.get("relevant_windows")]
    row = file_statistics([file])
    assert row.queries == len(asked) < row.pairs == sum(len(entry["relevant_windows"]) for entry in asked)
    assert row.notes == (f"qvhighlights.jsonl: {len(entries) - len(asked)} not counted: the query has no windows",)


@pytest.mark.parametrize("file", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_format_of_import_is_counted_as_it_is_imported(file: Path, tmp_path: Path) -> None:
    row = file_statistics([file])
    assert row.queries > 0
    if row.video_hours is not None and not row.videos_without_duration:
        project = init_project(tmp_path / "p", encoder="minilm")
        import_corpus(project, OPERATOR, file, now=NOW)
        mine = project_statistics(project, OPERATOR)
        assert (mine.pairs, mine.moments, mine.videos) == (row.pairs, row.moments, row.videos)
        assert (mine.moment_hours, mine.video_hours) == pytest.approx((row.moment_hours, row.video_hours))
        assert (mine.vocabulary, mine.verbs_at_least) == (row.vocabulary, row.verbs_at_least)


def test_what_a_person_says_of_columns_is_heeded(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("clip,from,to,says\nv,1,3,A dog ran.\n")
    called = {"video": "clip", "start": "from", "end": "to", "caption": "says"}
    assert file_statistics([tmp_path / "m.csv"], format="csv", columns=called).mean_moment_s == 2.0


def test_a_project_has_captions_before_it_has_queries(corpus_project: Project) -> None:
    row = project_statistics(corpus_project, OPERATOR)
    assert row.parts == {"captions": 48}
    assert (row.moments, row.videos, row.pairs) == (48, 6, 48)
    assert (row.moment_hours, row.video_hours) == pytest.approx((48 * 2.5 / 3600, 6 * 60 / 3600))
    assert row.words_per_query == pytest.approx(sum(len(m.caption.split()) for m in MOMENTS) / 48)
    assert "no queries are drawn yet" in row.notes[0]


def test_a_project_and_its_release_count_the_same_queries_and_videos(judging: Judging, tmp_path: Path) -> None:
    for who in (0, 1):
        for pair in judging.pairs():
            judging.grade(who, pair.pair, 3)
    mine = project_statistics(judging.project, OPERATOR)
    assert mine.parts == {"val": 2, "test": 1, "train": 45}
    export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, now=NOW)
    row = file_statistics([tmp_path / "out"])
    assert row.parts == {"val": 2, "test": 1, "train_top40": 45}
    assert (row.queries, row.vocabulary, row.videos) == (mine.queries, mine.vocabulary, mine.videos)
    documents = [
        query
        for name in ("val", "test", "train_top40")
        for query in json.loads((tmp_path / "out" / f"{name}.json").read_bytes())
    ]
    graded = Counter((m["video_name"], *m["timestamp"]) for query in documents for m in query["relevant_moment"])
    assert (row.pairs, row.moments) == (graded.total(), len(graded))
    assert row.video_hours == mine.video_hours == pytest.approx(6 * 60 / 3600)


def test_a_release_of_which_only_the_truth_is_there(tmp_path: Path) -> None:
    moment = {"video_name": "v", "timestamp": [1, 3.5], "duration": 9.0, "relevance": 4}
    (tmp_path / "val.json").write_text(json.dumps([{"query_id": 5, "query": "A dog.", "relevant_moment": [moment]}]))
    row = file_statistics([tmp_path])
    assert (row.queries, row.moments, row.videos, row.mean_video_s) == (1, 1, 1, 9.0)
    (tmp_path / "train_top01.json").write_text('[{"query": 5}]')
    with pytest.raises(InputError, match=r"train_top01\.json, row 1: is not of the form of a release: .*query"):
        file_statistics([tmp_path])
    (tmp_path / "train_top01.json").unlink()
    (tmp_path / "val.json").write_text("[]")
    with pytest.raises(InputError, match="no query with a moment"):
        file_statistics([tmp_path])


def test_the_largest_training_set_is_read_and_sizes_are_numbers(tmp_path: Path) -> None:
    for top in (5, 20, 100):
        moments = [{"video_name": "v", "timestamp": [n, n + 1]} for n in range(top)]
        name = tmp_path / f"train_top{top:02d}.json"
        name.write_text(json.dumps([{"query": "A dog.", "relevant_moment": moments}]))
    assert file_statistics([tmp_path]).moments == 100


def test_each_file_is_a_part_with_its_own_moments(tmp_path: Path) -> None:
    train = write_jsonl(tmp_path / "train.jsonl", line("a", 0, 2, "A dog ran."), line("b", 1, 2, "A cat sat."))
    val = write_jsonl(tmp_path / "val.jsonl", line("a", 0, 2, "The dog.", duration=8))
    row = file_statistics([train, val])
    told = [(part.part, part.queries, part.moments, part.videos, part.video_hours) for part in row.by_part]
    assert told == [("train.jsonl", 2, 2, 2, 8 / 3600), ("val.jsonl", 1, 1, 1, 8 / 3600)]
    assert row.moments == 2


def test_the_training_set_of_a_release_has_its_figures(tmp_path: Path) -> None:
    """Names of videos are compared in their composed form, and the list of videos says how long they last."""
    assert training_figures(tmp_path) is None
    (tmp_path / "train_top20.json").write_text("[]\n")
    assert training_figures(tmp_path) is None
    moments = [{"video_name": name, "timestamp": [0, 3]} for name in ("caf\u00e9", "cafe\u0301", "b")]
    entry = {"query": "A dog runs.", "relevant_moment": moments}
    (tmp_path / "train_top40.json").write_text(json.dumps([entry, {**entry, "query": "It sits."}], ensure_ascii=False))
    (tmp_path / "video_corpus.json").write_text('{"caf\\u00e9": [30, 0], "b": [6, 1], "c": [9, 2]}')
    part = training_figures(tmp_path)
    assert part is not None
    assert (part.part, part.queries, part.moments, part.videos) == ("train_top40", 2, 2, 2)
    assert (part.moment_hours, part.video_hours) == (6 / 3600, 36 / 3600)
    assert (part.ratio, part.query_words) == (Spread(2, 0.1, 0.3, 0.5), Spread(2, 2, 2.5, 3))
    assert file_statistics([tmp_path]).by_part == (part,)
    (tmp_path / "train_top40.json").write_bytes(b"")
    with pytest.raises(
        InputError, match=r"train_top40\.json: is not of the form of a release: Input data was truncated"
    ):
        training_figures(tmp_path)


def test_an_empty_project_says_what_to_do(tmp_path: Path) -> None:
    project = init_project(tmp_path / "p", encoder="minilm")
    with pytest.raises(ProjectError, match="run `reelrank import"):
        project_statistics(project, OPERATOR)
