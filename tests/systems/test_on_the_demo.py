"""The baselines on the demo project, with simulated judgements: from a project to a score."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from backend.campaign.demo import build_demo
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.baselines import _task, write_baseline
from backend.campaign.release.export.freezing import export_release
from backend.campaign.setup.project.folder import Project
from backend.scoring.evaluate import evaluate
from backend.systems.baselines import BaselineOptions
from support import NOW

pytestmark = pytest.mark.long

KEY = "ndcg@20,0.5"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("demo") / "project"
    return build_demo(folder, judged=True, now=NOW, progress=lambda what, done, total: None)


@pytest.fixture(scope="module")
def score(demo: Project, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., float]:
    """NDCG@20,0.5 of a baseline over the settled validation queries."""
    folder = tmp_path_factory.mktemp("runs")
    release = folder / "release"
    export_release(demo, OPERATOR, release, now=NOW)

    def of(name: str, seed: int = 0) -> float:
        out = folder / f"{name}-{seed}.json"
        write_baseline(demo, OPERATOR, name, out, BaselineOptions(seed=seed), split="val")
        return evaluate(release / "val.json", out, measures=KEY, unknown="ignore").mean[KEY]

    return of


def test_who_knows_more_scores_more(score: Callable[..., float]) -> None:
    captions = score("caption")
    blind = [score("prior", seed) for seed in range(5)]
    chance = [score("random", seed) for seed in range(5)]
    assert captions > 0.9, "the candidates of the demo were chosen by the same similarity"
    assert max(*blind, *chance) < captions / 2
    assert fmean(blind) > fmean(chance)


def test_captions_find_what_the_candidate_lists_hold(demo: Project, tmp_path: Path) -> None:
    """The lists were chosen by the same encoder and the same search, elsewhere in the code."""
    out = tmp_path / "caption.json"
    write_baseline(demo, OPERATOR, "caption", out, BaselineOptions(top=40))
    rows = demo.store.db.conn.execute(
        "SELECT c.query_id, v.name, m.start_s, m.end_s, c.similarity FROM candidate c JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) ORDER BY c.query_id, c.rank"
    )
    listed: dict[str, list[list[object]]] = {}
    for query, *answer in rows:
        listed.setdefault(str(query), []).append(answer)
    assert json.loads(out.read_text()) == listed


def test_no_training_moment_is_one_that_a_query_was_drawn_from(demo: Project) -> None:
    task = _task(demo, "val")
    asked = {row[0] for row in demo.store.db.conn.execute("SELECT text FROM query WHERE split <> 'train'")}
    drawn = {one[:3] for one in task.captions if one.caption in asked}
    assert len(task.queries) == 8
    assert drawn
    assert not drawn & {one[:3] for one in task.training}
    assert drawn | {one[:3] for one in task.training} == {one[:3] for one in task.captions}
    assert set(task.files) == set(task.durations)
