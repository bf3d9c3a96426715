"""Clips cut ahead are those that people will be shown, those wanted first at first."""

import shutil

import pytest

from backend.campaign.desk import exchange
from backend.campaign.desk.clips import clip_for, report_clip
from backend.campaign.judging.queue import restore_clip
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.progress import cut_queued_clips, disk_space_warning
from backend.campaign.monitoring.progress.rows.work import moments
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed
from backend.media.jobs import cached, is_cut
from backend.store.connection import reading
from scored import write_video
from support import NOW, Judging

Span = tuple[str, float, float]


@pytest.fixture
def filmed(judging: Judging) -> Judging:
    """The same, with a file for each video but one."""
    folder = judging.project.folder.parent
    (folder / "videos").mkdir()
    one = write_video(folder / "one.mp4", 60)
    for n in range(6):
        shutil.copy(one, folder / "videos" / f"v{n}.mp4")
    import_corpus(judging.project, OPERATOR, folder / "moments.jsonl", videos=folder / "videos", now=NOW)
    judging.project.store.db.conn.execute("UPDATE video SET path = NULL WHERE name = 'v5'")
    judging.project.store.db.conn.commit()
    return judging


def queued(project: Project, *, next_batches: bool = False, everything: bool = False) -> list[Span]:
    with reading(project.store) as db:
        found = moments(db, next_batches=next_batches, everything=everything)
        return list(dict.fromkeys((one.video, one.start_s, one.end_s) for one in found))


def spans(project: Project, what: str, *values: object) -> set[Span]:
    rows = project.store.db.conn.execute(
        f"SELECT name, start_s, end_s FROM ({what}) JOIN moment USING (moment_id) JOIN video USING (video_id)", values
    )
    return {(row[0], row[1], row[2]) for row in rows}


def test_the_queue_is_what_desks_are_about_to_show(filmed: Judging) -> None:
    project = filmed.project
    found = queued(project)
    assert set(found) == spans(project, "SELECT moment_id FROM pair")
    pairs = {pair.pair: pair for pair in filmed.pairs()}
    desk = [pairs[item.pair] for item in exchange.desk(project, filmed.annotators[0], now=NOW).items]
    first = {(pair.video, pair.start_s, pair.end_s) for pair in desk}
    assert first
    assert first <= set(found[:20]), "the batch of twenty that is handed out first"


def test_what_is_settled_or_cannot_be_shown_is_not_queued(filmed: Judging) -> None:
    project, (pair, *_) = filmed.project, filmed.pairs()
    span = (pair.video, pair.start_s, pair.end_s)
    others = {(p.video, p.start_s, p.end_s) for p in filmed.pairs() if p.query_id != pair.query_id}
    assert span in queued(project)
    report_clip(project, filmed.lead, pair.pair, "broken", now=NOW)
    assert span not in queued(project, everything=True)
    restore_clip(project, filmed.lead, pair.pair, now=NOW)
    adjudicate(project, filmed.lead, pair.pair, 3, "seen", now=NOW)
    assert (span in queued(project)) == (span in others)
    assert span in queued(project, everything=True)


def test_the_next_batches_and_all_candidates_come_after_what_waits(filmed: Judging) -> None:
    project = filmed.project
    waiting, coming, every = queued(project), queued(project, next_batches=True), queued(project, everything=True)
    assert coming[: len(waiting)] == waiting
    assert every[: len(coming)] == coming
    assert set(coming) == set(waiting) | spans(
        project, "SELECT moment_id FROM candidate WHERE rank BETWEEN 21 AND 40 UNION SELECT moment_id FROM pair"
    )
    assert set(every) == spans(project, "SELECT moment_id FROM candidate UNION SELECT moment_id FROM pair")


def test_the_clips_are_there_when_they_are_asked_for(filmed: Judging) -> None:
    project = filmed.project
    report = cut_queued_clips(project, filmed.lead)
    assert report.without_file == ("v5",)
    known = [pair for pair in filmed.pairs() if pair.video != "v5"]
    assert report.clips.cut == len({(pair.video, pair.start_s) for pair in known}) == len(list(cached(project.clips)))
    for pair in known:
        assert is_cut(clip_for(project, filmed.lead, pair.pair))
    assert cut_queued_clips(project, filmed.lead).clips.there == report.clips.cut
    with pytest.raises(NotAllowed):
        cut_queued_clips(project, filmed.annotators[0])


def test_a_lead_is_told_of_a_disk_that_is_nearly_full(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(judging.project.folder)
    for free, told in ((progress.LITTLE_BYTES, False), (progress.LITTLE_BYTES - 1, True)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage._replace(free=free))
        assert bool(disk_space_warning(judging.project, judging.lead)) == told
    message = disk_space_warning(judging.project, judging.lead)
    assert message is not None
    assert "cache/clips has 200 MB left" in message
