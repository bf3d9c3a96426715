"""`import-release`: a project made of a release says in its own release what that one said."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from backend.campaign.corpus.captions.decisions import waiting_rewrites
from backend.campaign.desk.clips import report_clip
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role, Verdict
from backend.campaign.release.earlier import importing
from backend.campaign.release.export import importing as returning_project
from backend.campaign.release.export.diffing import diff_releases
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.importing import ReleaseImport, import_release
from backend.campaign.release.export.model import Adjudicated, ReleaseOptions
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.release.export.validating import validate_release
from backend.campaign.review import adjudicating
from backend.campaign.review.adjudicating import adjudicate, re_open
from backend.campaign.review.status import status_counts
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.places import is_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import AlreadyDone, InputError, ProjectError
from backend.encoders import sentence
from backend.store.connection import writing
from support import NOW, PARTLY, Judging, WordEncoder, have_read

SAME = (
    *("val.json", "test.json", "video_corpus.json", "raw_annotation.csv", "raw_query_moment_pair.csv"),
    *("train_top01.json", "train_top20.json", "train_top40.json"),
)
LATER = NOW + 86_400
SETTLED = st.sampled_from([(3, 4), (4, 4), (0, 1), (0, 4, 3, 4), (0, 4, 1, 3), (1, 3, 0, 4)])
# None at all, one, two that agree, two and three that do not, four that do and do not.
GIVEN = st.sampled_from([(), (2,), (3, 4), (4, 4), (0, 1), (0, 2), (0, 4, 2), (0, 4, 3, 4), (0, 4, 1, 3), (1, 3, 0, 4)])


def released_again(release: Path, folder: Path, options: ReleaseOptions) -> ReleaseImport:
    """Import a release and release the project, which needs no encoder; what came back."""
    report = import_release(release, folder / "again", encoder="minilm", now=LATER)
    project = open_project(folder / "again")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: pytest.fail("the training lists came with the release"))
        export_release(project, OPERATOR, folder / "second", options, now=LATER)
    assert doctor(project, now=LATER).findings == ()
    project.store.close()
    return report


def assert_same(first: Path, second: Path) -> None:
    for name in SAME:
        assert (second / name).read_bytes() == (first / name).read_bytes(), name
    assert validate_release(second).problems == []


@settings(max_examples=3, deadline=None, phases=[Phase.generate])
@given(data=st.data())
def test_import_of_export_is_the_same(
    data: st.DataObject, judging_made: Judging, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Grades of every kind, decisions of leads, a query with two batches, one with a blocked clip, one unfinished."""
    folder = tmp_path_factory.mktemp("imported")
    project = open_project(shutil.copytree(judging_made.project.folder, folder / "project"))
    further = [people.add(project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in ("Eve", "Fay")]
    have_read(project)
    judging = Judging(project, judging_made.lead, [*judging_made.annotators, *further])
    twice, blocked, unfinished = dict.fromkeys(pair.query_id for pair in judging.pairs())
    broken = next(pair for pair in judging.pairs() if pair.query_id == blocked)
    report_clip(project, judging.lead, broken.pair, "black", now=NOW)

    def judge(batch: int) -> None:
        for pair in judging.pairs():
            if (pair.rank > 20) == (batch == 2) and pair.pair != broken.pair:
                given = GIVEN if pair.query_id == unfinished else SETTLED
                for who, grade in enumerate(data.draw(given)):
                    judging.grade(who, pair.pair, grade, at=NOW + who + 60 * batch)

    judge(1)
    open_batch(project, judging.lead, twice, number=2, now=NOW)
    judge(2)
    discarded = [pair for pair in judging.pairs() if pair.verdict is Verdict.DISCARDED and not pair.fault]
    re_opened = [pair for pair in discarded if data.draw(st.booleans())]
    for pair in re_opened:
        re_open(project, judging.lead, pair.pair, "look again", now=NOW)
        for who in data.draw(st.sampled_from([(), (4,), (4, 5)])) if pair.query_id == unfinished else (4, 5):
            judging.grade(who, pair.pair, data.draw(st.integers(0, 4)), at=NOW + 99)
    before = {pair.pair: 1 for pair in re_opened}
    chosen = data.draw(st.lists(st.sampled_from(judging.pairs()), max_size=4, unique_by=lambda pair: pair.pair))
    for pair in chosen:
        relevance, seen = data.draw(st.integers(0, 4)), before.get(pair.pair, 0)
        adjudicate(project, judging.lead, pair.pair, relevance, "seen it", seen=seen, now=NOW)
    options = ReleaseOptions(
        adjudicated=data.draw(st.sampled_from(Adjudicated)),
        unfinished=data.draw(st.booleans()),
        with_published=data.draw(st.booleans()),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        export_release(project, OPERATOR, folder / "first", options, now=NOW)
    report = released_again(folder / "first", folder, options)
    assert_same(folder / "first", folder / "second")
    assert report.adjudicated == len(chosen)
    project.store.close()


def test_a_release_of_nothing_but_what_leads_decided_is_whole_and_comes_back(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its raw annotations are a header alone, which `validate` took for a broken file."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    for pair in judging.pairs()[:3]:
        adjudicate(judging.project, judging.lead, pair.pair, 3, "seen it", now=NOW)
    export_release(judging.project, OPERATOR, tmp_path / "first", PARTLY, now=NOW)
    assert len((tmp_path / "first" / "raw_annotation.csv").read_text().splitlines()) == 1
    assert validate_release(tmp_path / "first").problems == []
    assert released_again(tmp_path / "first", tmp_path, PARTLY).adjudicated == 3
    assert_same(tmp_path / "first", tmp_path / "second")
    assert not diff_releases(tmp_path / "first", tmp_path / "second").pairs


FOUR = """tolerance = 1
rounding = "half_down"
grades = [{label = "No"}, {label = "Hardly"}, {label = "Yes"}, {label = "All"}]
"""


@pytest.mark.parametrize(
    "scale",
    [pytest.param("matches", marks=pytest.mark.long, id="two grades"), pytest.param(FOUR, id="four grades, half down")],
)
def test_a_campaign_of_another_scale_comes_back_with_it(
    scale: str, corpus_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    if scale == FOUR:
        (tmp_path / "four.toml").write_text(FOUR)
    project = init_project(
        tmp_path / "p", encoder="minilm", scale=str(tmp_path / "four.toml") if scale == FOUR else scale
    )
    import_corpus(project, OPERATOR, corpus_folder / "moments.jsonl", "jsonl", now=NOW)
    draw_queries(project, OPERATOR, val=1, test=1, seed=5, now=NOW)
    choose_candidates(project, OPERATOR, batch_size=10, now=NOW)
    lead = add_person_with_password(project, OPERATOR, "Lea", Role.LEAD, "a password", now=NOW)
    judges = [
        add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, "a password", now=NOW)
        for name in ("Ann", "Bob")
    ]
    have_read(project)
    judging = Judging(project, lead, judges)
    for n, pair in enumerate(judging.pairs()):
        for who in (0, 1):
            judging.grade(
                who, pair.pair, min(n % (2 if scale == "matches" else 4) + who, 1 if scale == "matches" else 3)
            )
    options = PARTLY
    set_release_terms(project, lead, licence="CC-BY-4.0", citation="@misc{us}", now=NOW)
    export_release(project, OPERATOR, tmp_path / "first", options, now=NOW)
    released_again(Path(shutil.make_archive(str(tmp_path / "first"), "zip", tmp_path, "first")), tmp_path, options)
    assert_same(tmp_path / "first", tmp_path / "second")
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("first", "second")]
    for key in (
        "scale",
        "tolerance",
        "rounding",
        "batch_size",
        "encoder",
        "captions",
        "statistics",
        "released",
        "licence",
        "citation",
    ):
        assert manifests[0][key] == manifests[1][key]


@pytest.mark.parametrize("published", [False, True])
def test_imprecise_captions_come_back_as_far_as_they_were_released(
    judging: Judging, tmp_path: Path, published: bool
) -> None:
    """One caption is rejected: its moment has none in the release, and none in the next."""
    project = judging.project
    options = ReleaseOptions(with_published=published, unfinished=True)
    with writing(project.store) as db:
        db.execute(
            "INSERT INTO caption (moment_id, text, kind, source_caption_id, rule_version, accepted, decided_at) "
            "SELECT moment_id, replace(text, 'Anna', 'A woman'), 'rewritten', caption_id, 'by-hand', "
            "caption_id <> 3, 1.0 FROM caption WHERE kind = 'published'"
        )
    for who in (0, 1):
        for pair in judging.pairs()[:30]:
            judging.grade(who, pair.pair, 3)
    export_release(project, OPERATOR, tmp_path / "first", options, now=NOW)
    import_release(tmp_path / "first", tmp_path / "again", now=LATER)
    again = open_project(tmp_path / "again")
    assert again.campaign.grading == project.campaign.grading
    export_release(again, OPERATOR, tmp_path / "second", options, now=LATER)
    assert_same(tmp_path / "first", tmp_path / "second")
    assert json.loads((tmp_path / "second" / "manifest.json").read_text())["moments_without_caption"] == 1
    assert waiting_rewrites(again) == []
    again.store.close()


def test_an_import_that_was_killed_goes_on_and_one_that_was_done_says_so(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    out, folder = tmp_path / "first", tmp_path / "again"
    export_release(judging.project, OPERATOR, out, PARTLY, now=NOW)
    with monkeypatch.context() as patch:  # nothing is tidied up after a kill
        patch.setattr(returning_project, "_fill", lambda *args: 1 / 0)
        patch.setattr(projects, "_delete", lambda project: None)
        with pytest.raises(ZeroDivisionError):
            import_release(out, folder, encoder="minilm", now=LATER)
    assert is_project(folder)
    with pytest.raises(ProjectError, match="is a project already"):
        import_release(out, folder, encoder="other/sup-model", now=LATER)
    report = import_release(out, folder, encoder="minilm", now=LATER)
    assert report.judgements.rows == 2
    with pytest.raises(AlreadyDone, match=r"^This was done at .* by the command line: nothing is left to do\.$"):
        import_release(out, folder, encoder="minilm", now=LATER)
    (out / "README.md").write_text("Another release.")
    with pytest.raises((ProjectError, InputError)) as refused:
        import_release(out, folder, encoder="minilm", now=LATER)
    assert not isinstance(refused.value, AlreadyDone)
    assert open_project(folder).store.db.conn.execute("SELECT count(*) FROM judgement").fetchone()[0] == 2


def test_nothing_is_left_of_a_release_that_is_refused_or_of_an_import_that_fails(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    out = tmp_path / "first"
    export_release(judging.project, OPERATOR, out, PARTLY, now=NOW)
    with pytest.raises(ProjectError, match="is a project already"):
        import_release(out, judging.project.folder, now=LATER)
    with monkeypatch.context() as patch:
        patch.setattr(adjudicating, "adjudicate", lambda *_, **__: None)
        patch.setattr(importing, "rebuild_verdicts", lambda store: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            import_release(out, tmp_path / "new", now=LATER)
    assert not (tmp_path / "new").exists()
    (out / "val.json").write_text((out / "val.json").read_text().replace('"relevance": 3', '"relevance": 7'))
    with pytest.raises(InputError, match="relevance is 7, not one of"):
        import_release(out, tmp_path / "new", now=LATER)
    (out / "manifest.json").unlink()
    for name in ("raw_annotation.csv", "raw_query_moment_pair.csv", "val.json"):
        (out / name).unlink()
    with pytest.raises(InputError, match=r"has no raw_annotation\.csv and no raw_query_moment_pair\.csv"):
        import_release(out, tmp_path / "new", now=LATER)
    assert not (tmp_path / "new").exists()


def test_a_published_release_of_three_columns_comes_in_as_far_as_it_goes(judging: Judging, tmp_path: Path) -> None:
    """Without manifest, times, rounds, verdicts and ranks: the truth is the same, the rest is what the files say."""
    for pair in judging.pairs():
        for who, grade in enumerate((0, 4, 3, 4) if pair.rank % 3 else (2, 3)):
            judging.grade(who, pair.pair, grade)
    out = tmp_path / "first"
    export_release(judging.project, OPERATOR, out, now=NOW)
    (out / "manifest.json").unlink()
    lines = (out / "raw_annotation.csv").read_text().splitlines()
    (out / "raw_annotation.csv").write_text("".join(",".join(line.split(",")[:3]) + "\n" for line in lines))
    with (out / "raw_query_moment_pair.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (out / "raw_query_moment_pair.csv").open("w", newline="") as file:
        columns = ["pair_id", "query_id", "query", "split", "video_name", "start", "end", "duration", "similarity"]
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    import_release(out, tmp_path / "again", now=LATER)
    again = open_project(tmp_path / "again")
    assert again.settings.encoder_kind == "sup", "nothing says which encoder it was: that of any new project"
    export_release(again, OPERATOR, tmp_path / "second", now=LATER)

    def without_captions(file: Path) -> object:
        documents = json.loads(file.read_text())
        return [
            (one["query_id"], sorted((m["pair_id"], m["relevance"], *m["timestamp"]) for m in one["relevant_moment"]))
            for one in documents
        ]

    for name in ("val.json", "test.json"):
        assert without_captions(tmp_path / "second" / name) == without_captions(out / name)
    assert status_counts(again, OPERATOR)["judgements"] == len(lines) - 1
    again.store.close()
