"""Moments proposed and changed: what is used stays, everything else is as somebody says, and all at once or not."""

from fractions import Fraction
from pathlib import Path

import pytest

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.moments.editing import (
    change_moments,
    join_moments,
    moments_csv,
    moments_of_video,
    split_moment,
    take_moments,
)
from backend.campaign.corpus.moments.model import ByShots, ByWindows, MomentRow, Origin, ProposeReport
from backend.campaign.corpus.moments.proposing import propose_moments
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import next_step
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, NotAllowed, Overtaken, ProjectError
from backend.core.ids import MomentId
from backend.media.sources import VideoFacts
from backend.store.connection import writing
from support import NOW, Judging

WINDOWS = ByWindows((4.0,), 0.5)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two videos of 10 and 6 s, of which nobody has the files; one moment has a caption."""
    project = init_project(tmp_path / "project", encoder="minilm")
    file = tmp_path / "m.csv"
    file.write_text("video,start,end,caption,duration\na,2,6,A dog runs.,10\nb,0,6,A cat sits.,6\n")
    import_corpus(project, OPERATOR, file, now=NOW)
    return project


def of(project: Project, video: str) -> list[tuple[float, float, Origin]]:
    return [(m.start_s, m.end_s, m.origin) for m in moments_of_video(project, OPERATOR, video)]


def moment(project: Project, video: str, start_s: float) -> MomentRow:
    return next(m for m in moments_of_video(project, OPERATOR, video) if m.start_s == start_s)


def windows(project: Project, how: ByWindows = WINDOWS) -> ProposeReport:
    return propose_moments(project, OPERATOR, how, now=NOW)


def test_windows_stand_beside_what_was_imported(project: Project) -> None:
    report = windows(project)
    # By hand: of 10 s (0, 4), (2, 6), (4, 8), (6, 10), of which (2, 6) was imported; of 6 s (0, 4), (2, 6).
    assert of(project, "a") == [
        *((0.0, 4.0, Origin.WINDOWS), (2.0, 6.0, Origin.IMPORTED)),
        *((4.0, 8.0, Origin.WINDOWS), (6.0, 10.0, Origin.WINDOWS)),
    ]
    assert of(project, "b") == [(0.0, 4.0, Origin.WINDOWS), (0.0, 6.0, Origin.IMPORTED), (2.0, 6.0, Origin.WINDOWS)]
    assert (report.videos, report.moments, report.new, report.gone, report.stayed) == (2, 6, 5, 0, 0)
    assert doctor(project, now=NOW).findings == ()


def test_proposing_again_replaces_what_was_proposed_and_nothing_else(project: Project) -> None:
    windows(project)
    assert (windows(project).new, windows(project).gone) == (0, 0)
    used = moment(project, "a", 4.0)
    with writing(project.store) as db:
        db.execute("INSERT INTO caption (moment_id, text, kind) VALUES (?, 'A bird.', 'published')", [used.moment_id])
    by_hand = moment(project, "a", 6.0)
    change_moments(project, OPERATOR, "a", [by_hand.moment_id], [(6.5, 9.0)], now=NOW)
    report = windows(project, ByWindows((3.0,), 1.0))
    assert (report.gone, report.stayed) == (3, 1)
    assert of(project, "a") == [
        *((0.0, 3.0, Origin.WINDOWS), (2.0, 6.0, Origin.IMPORTED), (3.0, 6.0, Origin.WINDOWS)),
        *((4.0, 8.0, Origin.WINDOWS), (6.0, 9.0, Origin.WINDOWS), (6.5, 9.0, Origin.IMPORTED)),
        (7.0, 10.0, Origin.WINDOWS),
    ]


def test_what_cannot_be_proposed_is_told_and_nothing_is_written(project: Project, tmp_path: Path) -> None:
    before = of(project, "a")
    with pytest.raises(ProjectError, match="--stride is 2"):
        windows(project, ByWindows((4.0,), 2.0))
    with pytest.raises(ProjectError, match=r"about 7,99.,... moments"):
        windows(project, ByWindows((0.002,), 0.001))
    with pytest.raises(ProjectError, match="no video nowhere"):
        propose_moments(project, OPERATOR, WINDOWS, videos=["a", "nowhere"], now=NOW)
    with pytest.raises(ProjectError, match=r"(?s)none of the videos can be read.*a: its file is not known"):
        propose_moments(project, OPERATOR, ByShots(), now=NOW)
    assert of(project, "a") == before
    empty = init_project(tmp_path / "empty", encoder="minilm")
    with pytest.raises(ProjectError, match="no videos yet: name their folder with --videos"):
        windows(empty)


def test_shots_are_looked_for_once_for_each_content(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def find(source: Path, duration_s: float, progress: object) -> list[tuple[float, float]]:
        looked.append(source.name)
        return [(0.0, 4.0), (4.0, duration_s)]

    monkeypatch.setattr("backend.campaign.corpus.moments.proposing.find_shots", find)
    for sha256, seen in (("x" * 64, 1), ("x" * 64, 1), ("y" * 64, 2)):
        with writing(project.store) as db:
            corpus.set_video_facts(db, {"a": VideoFacts("a.mp4", Fraction(25), 10.0, 64, 48, False, sha256)})
        report = propose_moments(project, OPERATOR, ByShots(2.0, 5.0), now=NOW)
        assert [str(problem) for problem in report.problems] == [
            "b: its file is not known: name the folder with --videos"
        ]
        assert (report.shots, report.moments, len(looked)) == (2, 3, seen)
    assert of(project, "a") == [
        *((0.0, 4.0, Origin.SHOTS), (2.0, 6.0, Origin.IMPORTED)),
        *((4.0, 7.0, Origin.SHOTS), (7.0, 10.0, Origin.SHOTS)),
    ]


def test_a_moment_is_split_joined_and_removed(project: Project) -> None:
    windows(project)
    split_moment(project, OPERATOR, moment(project, "a", 0.0).moment_id, 1.5, now=NOW)
    assert of(project, "a")[:2] == [(0.0, 1.5, Origin.IMPORTED), (1.5, 4.0, Origin.IMPORTED)]
    joined = [moment(project, "a", start).moment_id for start in (1.5, 4.0)]
    join_moments(project, OPERATOR, joined, now=NOW)
    assert (1.5, 8.0, Origin.IMPORTED) in of(project, "a")
    change_moments(project, OPERATOR, "a", [moment(project, "a", 1.5).moment_id], [], now=NOW)
    assert [start for start, *_ in of(project, "a")] == [0.0, 2.0, 6.0]
    told = [row.words for row in find_activity(project, OPERATOR, ActivityFilter(), first=0, most=3)]
    assert told == [
        "removed moments from a: 1.50–8.00 s",
        "changed moments of a: 1.50–4.00 s, 4.00–8.00 s became 1.50–8.00 s",
        "changed moments of a: 0.00–4.00 s became 0.00–1.50 s, 1.50–4.00 s",
    ]


def test_what_is_used_stays_as_it_is(project: Project) -> None:
    captioned = moment(project, "a", 2.0)
    assert captioned.used
    message = r"2\.00 to 6\.00 s of a is in use \(1 caption\), so it cannot change"
    with pytest.raises(ProjectError, match=message):
        change_moments(project, OPERATOR, "a", [captioned.moment_id], [], now=NOW)
    with pytest.raises(ProjectError, match=message):
        split_moment(project, OPERATOR, captioned.moment_id, 3.0, now=NOW)
    assert of(project, "a") == [(2.0, 6.0, Origin.IMPORTED)]


@pytest.mark.parametrize(
    ("span", "why"),
    [
        ((3.0, 3.0), "the end 3 is not after the start 3"),
        ((2.0, 6.0), "already has a moment with this start and end"),
    ],
)
def test_a_span_that_can_be_no_moment_is_refused_and_nothing_changes(
    project: Project, span: tuple[float, float], why: str
) -> None:
    windows(project)
    before = of(project, "a")
    with pytest.raises(ProjectError, match=why):
        change_moments(project, OPERATOR, "a", [moment(project, "a", 0.0).moment_id], [span], now=NOW)
    assert of(project, "a") == before


def test_two_leads_at_one_moment_do_not_undo_each_other(project: Project) -> None:
    windows(project)
    first = moment(project, "a", 0.0)
    change_moments(project, OPERATOR, "a", [first.moment_id], [(0.0, 3.0)], now=NOW)
    with pytest.raises(Overtaken, match="changed or removed this moment"):
        split_moment(project, OPERATOR, first.moment_id, 1.0, now=NOW)
    with pytest.raises(Overtaken):
        change_moments(project, OPERATOR, "b", [moment(project, "a", 0.0).moment_id], [], now=NOW)
    with pytest.raises(ProjectError, match="two moments or more"):
        join_moments(project, OPERATOR, [first.moment_id, MomentId(999)], now=NOW)


def test_moments_go_out_and_come_back_as_a_file(project: Project, tmp_path: Path) -> None:
    windows(project)
    file = tmp_path / "moments.csv"
    file.write_text(moments_csv(project, OPERATOR))
    assert file.read_text().splitlines()[:3] == [
        "video,start,end,origin,captions,pairs",
        "a,0.0,4.0,windows,0,0",
        "a,2.0,6.0,imported,1,0",
    ]
    before = of(project, "a"), of(project, "b")
    again = take_moments(project, OPERATOR, file, only=True, now=NOW)
    assert (again.moments, again.new, again.gone) == (7, 0, 0)
    assert (of(project, "a"), of(project, "b")) == before
    file.write_text("start,end,video\n1,2,a\n")
    only = take_moments(project, OPERATOR, file, only=True, now=NOW)
    assert (only.moments, only.new, only.gone, only.stayed) == (1, 1, 3, 1)
    assert of(project, "a") == [(1.0, 2.0, Origin.IMPORTED), (2.0, 6.0, Origin.IMPORTED)]
    assert of(project, "b") == before[1]


def test_a_file_with_problems_is_refused_as_a_whole(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "moments.csv"
    file.write_text("video,start,end\na,1,2\nnobody,1,2\na,3,2\na,1,x\n")
    with pytest.raises(InputError) as refusal:
        take_moments(project, OPERATOR, file, now=NOW)
    assert [str(problem) for problem in refusal.value.problems] == [
        "moments.csv, row 3: the project has no video 'nobody'",
        "moments.csv, row 4: the end 2 is not after the start 3",
        "moments.csv, row 5: start and end have to be numbers of seconds",
    ]
    assert of(project, "a") == [(2.0, 6.0, Origin.IMPORTED)]
    file.write_text("video,start,end\n")
    with pytest.raises(InputError):
        take_moments(project, OPERATOR, file, now=NOW)


def test_moments_under_judgement_stay_and_annotators_change_none(judging: Judging) -> None:
    project = judging.project
    pair = judging.pairs()[0]
    found = [m for m in moments_of_video(project, judging.lead, pair.video) if m.pairs]
    assert found
    assert all(m.used for m in found)
    with pytest.raises(ProjectError, match=r"pairs\), so it cannot change"):
        change_moments(project, judging.lead, pair.video, [found[0].moment_id], [], now=NOW)
    with pytest.raises(NotAllowed):
        moments_of_video(project, judging.annotators[0], pair.video)


def test_without_a_caption_candidates_come_from_people_or_runs(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", encoder="minilm")
    with writing(project.store) as db:
        facts = VideoFacts("a.mp4", Fraction(25), 10.0, 64, 48, False, "x" * 64)
        corpus.add_videos(db, {"a": facts})
    windows(project)
    step = f"reelrank queries {project.folder} --from FILE"
    assert next_step(project, OPERATOR) == step
    with pytest.raises(ProjectError, match=r"there are no queries yet: run `reelrank queries .* --from FILE` first"):
        choose_candidates(project, OPERATOR, now=NOW)
    own = tmp_path / "own.txt"
    own.write_text("a dog runs\n")
    draw_queries(project, OPERATOR, own=own, now=NOW)
    assert next_step(project, OPERATOR) == f"reelrank candidates {project.folder} --pool RUN.json"
    with pytest.raises(ProjectError, match="no moment has a caption to find candidates by"):
        choose_candidates(project, OPERATOR, now=NOW)
    assert not project.store.db.execute("SELECT 1 FROM candidate").fetchone()
