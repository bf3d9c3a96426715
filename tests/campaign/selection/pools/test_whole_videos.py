"""A desk says of a whole video that it is one, also in the exam and when it is offered for correction; others not."""

from pathlib import Path

import demo_pools
from backend.campaign.desk import exchange
from backend.campaign.desk.clips import clip_for, storyboard_for
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.selection.pools.checking import make_pool_check
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.media.jobs import ClipKind
from support import NOW, Judging, have_read


def test_a_moment_of_a_video_is_no_whole_one(judging: Judging) -> None:
    items = exchange.desk(judging.project, judging.annotators[0], now=NOW).items
    assert items
    assert not any(item.whole for item in items)


def test_whole_videos_are_told_wherever_they_are_shown(tmp_path: Path) -> None:
    pools = demo_pools.write(tmp_path / "pools.json")
    project, _ = make_pool_check(pools, tmp_path / "check", demo_pools.CLIPS, now=NOW)
    ana, ben = (
        add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, "long enough", now=NOW)
        for name in ("Ana", "Ben")
    )
    have_read(project)
    desk = exchange.desk(project, ana, now=NOW)
    assert all(item.whole for item in desk.items)
    board = storyboard_for(project, ana, desk.items[0].pair)
    clip = clip_for(project, ana, desk.items[0].pair)
    assert board.path.name == f"{ClipKind.STORYBOARD}{clip.path.stem}.webp"
    assert (board.start_s, round(board.end_s, 1)) == (0.0, desk.items[0].duration_s)
    for person in (ana, ben):
        while items := exchange.desk(project, person, now=NOW).items:
            event = GradeEvent(items[0].pair, 1, f"{person.name} {items[0].pair}", 900)
            assert exchange.record_grades(project, person, [event], now=NOW)[0].status == "saved"
    previous = exchange.desk(project, ben, now=NOW).previous
    assert previous is not None
    assert previous.whole
    lead = add_person_with_password(project, OPERATOR, "Lea", Role.LEAD, "long enough", now=NOW)
    set_exam(project, lead, queries=3, pairs=3, seed=1, although="few pairs", now=NOW + 1000)
    nia = add_person_with_password(project, lead, "Nia", Role.ANNOTATOR, "long enough", now=NOW + 1000)
    have_read(project)
    items = exchange.exam_act(project, nia, ExamAct.START, now=NOW + 1000).items
    assert items
    assert all(item.whole for item in items)
    assert storyboard_for(project, nia, items[0].pair).path.suffix == ".webp"
