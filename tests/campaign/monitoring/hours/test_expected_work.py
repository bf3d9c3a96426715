"""How much work candidates would make: the same as they then do."""

from pathlib import Path

import pytest

from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.monitoring.hours.report import expected_work
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.review.queries import take_back_queries
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.selection.queries.model import OwnFile
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from support import MOMENTS, NOW, Judging, sit


@pytest.mark.parametrize(("batch_size", "probe"), [(20, 0), (5, 2), (40, 1)])
def test_the_pairs_are_those_that_choosing_then_opens(corpus_project: Project, batch_size: int, probe: int) -> None:
    draw_queries(corpus_project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    found = expected_work(corpus_project, OPERATOR, batch_size=batch_size, probe=probe)
    done = choose_candidates(corpus_project, OPERATOR, batch_size=batch_size, probe=probe, now=NOW)
    assert (found.queries, found.pairs) == (done.queries, done.pairs + done.probe_pairs)
    assert found.grades == 2 * found.pairs
    assert not found.measured
    assert found.seconds == pytest.approx(sum(m.end_s - m.start_s for m in MOMENTS) / len(MOMENTS))
    assert found.hours == pytest.approx(found.grades * 2.5 / 3600)


def test_grades_that_were_given_tell_how_long_one_takes(judging: Judging) -> None:
    items = desk(judging.project, judging.annotators[0], now=NOW - 60).items
    for pair, active_ms in zip(items, (4000, 8000), strict=False):
        event = GradeEvent(pair.pair, 3, f"key {pair.pair}", active_ms, active_ms)
        sit(judging.project, judging.annotators[0], [pair.pair], now=NOW)
        record_grades(judging.project, judging.annotators[0], [event], now=NOW)
    found = expected_work(judging.project, judging.lead, batch_size=10)
    assert (found.measured, found.seconds, found.pairs) == (True, 6.0, 30)


def test_without_queries_there_is_no_work(judging: Judging) -> None:
    take_back_queries(judging.project, judging.lead, now=NOW)
    found = expected_work(judging.project, judging.lead, batch_size=10)
    assert (found.queries, found.pairs, found.grades, found.hours) == (0, 0, 0, 0)


def test_what_runs_find_may_be_no_moment_of_the_project_yet(tmp_path: Path) -> None:
    project = init_project(tmp_path / "empty", encoder="minilm")
    own = OwnFile(b"A cat sits\nIt rains\n", "q.txt", Split.TEST)
    draw_queries(project, OPERATOR, own=own, now=NOW)
    assert expected_work(project, OPERATOR, batch_size=7).pairs == 0
    assert expected_work(project, OPERATOR, batch_size=7, pooled=True).pairs == 14
