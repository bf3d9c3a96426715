"""Probes: which pairs they hold, that they disturb no batch, that no release has them, and what their figure says."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from backend.campaign.desk.exchange import desk, shown
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.release.board.truths import truth_of_project
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.queries import list_queries, query_pairs, take_back_queries, write_probe_figures
from backend.campaign.review.status import status_counts
from backend.campaign.selection.batches.next_batch import open_batch, undo_batch
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import PairKey, QueryId
from support import NOW, PEOPLE, VERBS, Judging, WordEncoder, have_read, sit

PLACES = ("kitchen", "hall", "garden", "office", "street", "car", "shop", "attic", "lift", "roof")
CAPTIONS = [f"{PEOPLE[n % 4]} {VERBS[n % 8]} in the {PLACES[n % 10]} {n}." for n in range(200)]


@pytest.fixture
def probed(corpus_project: Project, tmp_path: Path) -> Judging:
    """248 moments, six queries to judge, two of which are probed."""
    lines = [
        json.dumps({"video": f"w{n % 9}", "start": n, "end": n + 1.5, "caption": text, "duration": 300.0})
        for n, text in enumerate(CAPTIONS)
    ]
    (tmp_path / "more.jsonl").write_text("\n".join(lines))
    import_corpus(corpus_project, OPERATOR, tmp_path / "more.jsonl", "jsonl", now=NOW)
    draw_queries(corpus_project, OPERATOR, val=4, test=2, seed=3, now=NOW)
    report = choose_candidates(corpus_project, OPERATOR, probe=2, seed=8, now=NOW)
    assert (report.queries, report.pairs, report.probed, report.probe_pairs) == (6, 120, 2, 200)
    lead = people.add(corpus_project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    crowd = [people.add(corpus_project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in PEOPLE]
    have_read(corpus_project)
    return Judging(corpus_project, lead, crowd)


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute(sql)]


def settle(judging: Judging, grade: int | None = None) -> None:
    """Both first seats of every open pair; without a grade, one that falls with the rank."""
    for pair in judging.pairs():
        if not pair.grades:
            given = max(0, 4 - pair.rank // 10) if grade is None else grade
            assert [judging.grade(who, pair.pair, given).status for who in (0, 1)] == ["saved"] * 2


def probed_queries(judging: Judging) -> list[int]:
    return [int(str(row[0])) for row in rows(judging.project, "SELECT query_id FROM batch WHERE number IS NULL")]


def test_a_probe_is_the_top_60_and_60_of_all_others(probed: Judging) -> None:
    """Against the whole ranking, reckoned here: by similarity to 1/100,000, then by the number of the moment."""
    moments = rows(probed.project, "SELECT moment_id, text FROM caption ORDER BY moment_id")
    vectors = WordEncoder().encode([str(text) for _, text in moments]).astype(float)
    for query_id in probed_queries(probed):
        [(text,)] = rows(probed.project, f"SELECT text FROM query WHERE query_id = {query_id}")
        scores = np.rint(vectors @ WordEncoder().encode([str(text)])[0].astype(float) * 100_000)
        order = sorted(range(len(moments)), key=lambda at: (-scores[at], moments[at][0]))
        ranking = {moments[at][0]: (rank, scores[at] / 100_000) for rank, at in enumerate(order, start=1)}
        held = rows(probed.project, f"SELECT moment_id, rank, similarity FROM pair WHERE query_id = {query_id}")
        assert all(ranking[moment] == (rank, pytest.approx(score)) for moment, rank, score in held)
        ranks = sorted(int(str(rank)) for _, rank, _ in held)
        assert ranks[:60] == list(range(1, 61))
        assert (len(ranks), len(set(ranks)), min(ranks[60:]) > 60) == (120, 120, True)
    assert rows(probed.project, "SELECT count(*), max(rank) FROM candidate") == [(240, 40)]
    kinds = "SELECT b.number, count(*) FROM pair JOIN batch b USING (batch_id) GROUP BY b.number ORDER BY b.number"
    assert rows(probed.project, kinds) == [(None, 200), (1, 120)]


def test_the_same_seed_probes_the_same_and_another_one_does_not(probed: Judging) -> None:
    def held() -> set[tuple[object, ...]]:
        sql = "SELECT q.text, moment_id FROM pair JOIN batch b USING (batch_id) JOIN query q ON q.query_id = b.query_id"
        return set(rows(probed.project, f"{sql} WHERE b.number IS NULL"))

    found = []
    for seed in (8, 8, 9):
        take_back_queries(probed.project, OPERATOR, now=NOW)
        draw_queries(probed.project, OPERATOR, val=4, test=2, seed=3, now=NOW)
        choose_candidates(probed.project, OPERATOR, probe=2, seed=seed, now=NOW)
        found.append(held())
    assert found[0] == found[1] != found[2]


def test_probes_are_judged_like_others_and_disturb_no_batch(probed: Judging) -> None:
    project = probed.project
    counts = status_counts(project, OPERATOR)
    assert (counts["batches"], counts["probes"]) == ({"1": 6, "2": 0}, {"queries": 2, "pairs": 200})
    assert sum(counts["pairs"].values()) == 320
    for query in list_queries(project, OPERATOR):
        assert (query.pairs, len(query.relevances), query.batches_open) == (20, 20, 1)
    # Batch 1 alone is settled: a further batch may be opened, whatever the probe still wants.
    first = probed_queries(probed)[0]
    for pair in query_pairs(project, OPERATOR, first):  # type: ignore[arg-type]
        if not pair.probe:
            assert [probed.grade(who, pair.pair, 3).status for who in (0, 1)] == ["saved"] * 2
    [query] = [query for query in list_queries(project, OPERATOR) if query.query_id == first]
    assert (query.settled, query.last, query.more_candidates) == (20, (3,) * 5, True)
    assert desk(project, probed.annotators[2], now=NOW - 90_000).items
    settle(probed)
    assert status_counts(project, OPERATOR)["pairs"]["consensus"] == 320
    assert desk(project, probed.annotators[2], now=NOW + 9000).items == ()
    assert doctor(project, now=NOW).findings == ()


def test_a_further_batch_takes_its_pairs_over_with_their_grades(probed: Judging) -> None:
    project, first = probed.project, probed_queries(probed)[0]
    settle(probed, 2)
    kept = [rows(project, f"SELECT * FROM {table}") for table in ("batch", "pair", "seat", "judgement", "agenda")]
    open_batch(project, probed.lead, first, now=NOW)  # type: ignore[arg-type]
    assert undo_batch(project, probed.lead, first, "too early", number=2, now=NOW) == 20  # type: ignore[arg-type]
    assert kept == [
        rows(project, f"SELECT * FROM {table}") for table in ("batch", "pair", "seat", "judgement", "agenda")
    ]
    assert open_batch(project, probed.lead, first, now=NOW) == 20  # type: ignore[arg-type]
    [query] = [query for query in list_queries(project, OPERATOR) if query.query_id == first]
    assert (query.pairs, query.settled, query.relevances, query.more_candidates) == (40, 40, (2,) * 40, False)
    numbers = "SELECT b.number, count(*) FROM pair JOIN batch b USING (batch_id) WHERE b.query_id = ? GROUP BY b.number"
    found = project.store.db.conn.execute(numbers, [first]).fetchall()
    assert {row[0]: row[1] for row in found} == {None: 80, 1: 20, 2: 20}
    assert status_counts(project, OPERATOR)["judgements"] == 640
    assert doctor(project, now=NOW).findings == ()


@pytest.mark.parametrize("did", ["graded", "shown"])
def test_work_on_a_probe_stays_with_it_and_later_work_with_the_batch_whatever_the_clock_says(
    probed: Judging, jump: tuple[float, float], did: str
) -> None:
    project, lead, first, (before, after) = probed.project, probed.lead, QueryId(probed_queries(probed)[0]), jump
    for pair in query_pairs(project, OPERATOR, first):
        if pair.rank <= 20:
            for who in (0, 1):
                probed.grade(who, pair.pair, 3, at=after)
    next_ones = [
        PairKey(key)
        for (key,) in probed.rows(
            "SELECT pair_key FROM pair JOIN batch USING (batch_id) WHERE number IS NULL AND pair.query_id = ? AND rank "
            "BETWEEN 21 AND 40 ORDER BY rank",
            first,
        )
    ]

    def work(nth: int, at: float) -> None:
        if did == "graded":
            probed.grade(2, next_ones[nth], 3, at=at)
        else:
            sit(project, probed.annotators[2], [next_ones[nth]], now=at)
            shown(project, probed.annotators[2], next_ones[nth], now=at)

    work(0, after)
    open_batch(project, lead, first, now=before)
    undo_batch(project, lead, first, "only the probe has work", number=2, now=after)
    open_batch(project, lead, first, now=before)
    work(1, after)
    with pytest.raises(ProjectError, match=r"worked on it \(1 × grade\)|a pair of it is on the screen of"):
        undo_batch(project, lead, first, "too late", number=2, now=after)


def test_a_further_batch_of_an_unjudged_probe_is_judged_in_the_batch(probed: Judging) -> None:
    project, first = probed.project, probed_queries(probed)[0]
    for pair in query_pairs(project, OPERATOR, first):  # type: ignore[arg-type]
        if pair.rank <= 20:
            for who in (0, 1):
                probed.grade(who, pair.pair, 3)
    open_batch(project, probed.lead, first, now=NOW)  # type: ignore[arg-type]
    [query] = [query for query in list_queries(project, OPERATOR) if query.query_id == first]
    assert (query.pairs, query.settled, query.last) == (40, 20, (None,) * 5)
    assert rows(project, "SELECT count(*), count(DISTINCT pair_id) FROM seat") == [(640, 320)]
    assert doctor(project, now=NOW).findings == ()


def test_no_release_and_no_truth_of_the_project_holds_a_probe(probed: Judging, tmp_path: Path) -> None:
    project = probed.project
    settle(probed)
    out = tmp_path / "release"
    report = export_release(project, OPERATOR, out, now=NOW)
    assert (report.selection.moments, report.unsettled) == (120, 0)
    moments = [
        moment
        for name in ("val", "test")
        for query in json.loads((out / f"{name}.json").read_text())
        for moment in query["relevant_moment"]
    ]
    probes = {
        row[0] for row in rows(project, "SELECT pair_id FROM pair JOIN batch USING (batch_id) WHERE number IS NULL")
    }
    assert len(moments) == 120
    assert not {moment["pair_id"] for moment in moments} & probes
    for name, lines in (("raw_annotation.csv", 240), ("raw_query_moment_pair.csv", 120)):
        with (out / name).open() as file:
            listed = [int(row["pair_id"]) for row in csv.DictReader(file)]
        assert (len(listed), set(listed) & probes) == (lines, set())
    assert "| grades | 240 |" in (out / "README.md").read_text()
    counts = json.loads((out / "manifest.json").read_text())["counts"]
    assert (counts["judgements"], sum(counts["pairs"].values()), counts["probes"]["pairs"]) == (240, 120, 200)
    assert len(truth_of_project(project, OPERATOR, "val").relevance) == 80  # four queries of 20 pairs


def test_the_figure_of_probes_has_the_means_of_its_bins(probed: Judging, tmp_path: Path) -> None:
    project, out = probed.project, tmp_path / "probe"
    with pytest.raises(ProjectError, match="none of the 240 pairs of probed queries has a relevance yet"):
        write_probe_figures(project, OPERATOR, out)
    for n, pair in enumerate(probed.pairs()):
        if n % 7:
            grade = max(0, 4 - pair.rank // 12)
            for who, given in enumerate((grade, min(4, grade + n % 2))):
                assert probed.grade(who, pair.pair, given).status == "saved"
    report = write_probe_figures(project, OPERATOR, out)
    frame = pd.read_csv(out / "probe-pairs.csv")
    assert (len(frame), report.pairs, report.queries) == (240, 240, 2)
    known = pd.read_sql(
        "SELECT pair_id, relevance FROM consensus JOIN pair USING (pair_id) WHERE query_id IN "
        "(SELECT query_id FROM batch WHERE number IS NULL)",
        project.store.db.conn,
    )
    assert report.settled == len(known) == frame["relevance"].count()
    frame = frame.dropna()
    edges = [*range(0, 61, 5), 10_000]
    wanted = frame.groupby(pd.cut(frame["rank"], edges), observed=True)["relevance"].agg(["count", "mean"])
    assert [(part.pairs, part.mean) for part in report.by_rank] == [
        (row["count"], pytest.approx(row["mean"])) for _, row in wanted.iterrows()
    ]
    assert [part.name for part in report.by_rank][::12] == ["1–5", "others"]
    assert sum(part.pairs for part in report.by_similarity) == report.settled
    for part in report.by_similarity:
        inside = frame[(frame["similarity"] >= float(part.name)) & (frame["similarity"] < float(part.name) + 0.05)]
        assert (part.pairs, part.mean) == (len(inside), pytest.approx(inside["relevance"].mean()))
    with (out / "probe-bins.csv").open() as file:
        assert Counter(row["by"] for row in csv.DictReader(file)) == {
            "rank": len(report.by_rank),
            "similarity from": len(report.by_similarity),
        }
    lowest, highest = (round(edge(frame["similarity"]) * 1e5) // 5000 for edge in (min, max))
    drawn = (out / "probe.svg").read_text()
    assert all(f">{place * 0.05:.2f}</text>" in drawn for place in range(lowest, highest + 1)), "empty bins too"
    assert (out / "probe.png").read_bytes().startswith(b"\x89PNG")
    assert "How relevant are moments further down?" in drawn


def test_no_more_queries_are_probed_than_there_are_and_a_project_without_any_has_no_figure(
    corpus_project: Project, tmp_path: Path
) -> None:
    draw_queries(corpus_project, OPERATOR, val=2, test=0, seed=3, now=NOW)
    with pytest.raises(ProjectError, match="--probe is 3: write 0 to 2"):
        choose_candidates(corpus_project, OPERATOR, probe=3, now=NOW)
    # A corpus of 48 moments has no others: the probe is all that batch 1 leaves.
    report = choose_candidates(corpus_project, OPERATOR, probe=1, now=NOW)
    assert (report.pairs, report.probe_pairs) == (40, 28)
    take_back_queries(corpus_project, OPERATOR, now=NOW)
    with pytest.raises(ProjectError, match="no query is probed"):
        write_probe_figures(corpus_project, OPERATOR, tmp_path / "out")
