"""What is explored of a project, against its pairs counted one by one; and bins of any pairs."""

import csv
import io
import math
import shutil
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.explore import rules
from backend.campaign.monitoring.explore.model import BinnedBy, FoundPair, PairPart, RelevanceBin, VideoCoverage
from backend.campaign.monitoring.explore.rules import by_show as coverage_by_show
from backend.campaign.monitoring.explore.tables import (
    agreed_queries,
    coverage,
    durations,
    explored_csv,
    explored_version,
    found_pair_count,
    found_pairs,
    relevances_along,
    same_words,
)
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.model import PairReview
from backend.campaign.review.queries import list_queries
from backend.campaign.setup.project.folder import open_project
from backend.store.connection import writing
from support import NOW, Judging

GRADES = ((1, 2), (3, 3), (0, 4, 3, 4), (0, 4, 1, 3), (0, 3), (2,), (4, 4), (0, 0), ())


@pytest.fixture(scope="module")
def judged(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Judging:
    """Pairs of every verdict, durations of several kinds; tests only read it."""
    folder = tmp_path_factory.mktemp("explore") / "project"
    judging = replace(judging_made, project=open_project(shutil.copytree(judging_made.project.folder, folder)))
    with writing(judging.project.store) as db:
        db.conn.execute("UPDATE moment SET end_s = start_s + 0.5 + moment_id % 4")
    for place, pair in enumerate(judging.pairs()):
        for who, grade in enumerate(GRADES[place % len(GRADES)]):
            judging.grade(who, pair.pair, grade)
    adjudicate(judging.project, judging.lead, judging.pairs()[3].pair, 2, "seen", now=NOW)
    return judging


@pytest.fixture
def changing(judged: Judging, tmp_path: Path) -> Judging:
    """A copy of it."""
    folder = shutil.copytree(judged.project.folder, tmp_path / "project")
    return replace(judged, project=open_project(folder))


def place_of(along: BinnedBy, pair: PairReview) -> int:
    """The bin of a pair, told in another way than by SQL."""
    if along is BinnedBy.RANK:
        return pair.rank
    if along is BinnedBy.DURATION:
        lasts_s = pair.end_s - pair.start_s
        return max(place for place, low in enumerate(rules.SECONDS) if low <= lasts_s)
    return 20 if f"{pair.similarity:.6f}" == "1.000000" else math.floor(pair.similarity * 20 + 1e-6)


@pytest.mark.parametrize("along", BinnedBy)
def test_bins_hold_the_pairs_and_never_count_the_undecided(judged: Judging, along: BinnedBy) -> None:
    expected: defaultdict[int, Counter[int | None]] = defaultdict(Counter)
    for pair in judged.pairs():
        expected[place_of(along, pair)][pair.relevance] += 1
    bins = relevances_along(judged.project, OPERATOR, along)
    found = {one.place: Counter({**dict(enumerate(one.counts)), None: one.without}) for one in bins}
    assert {place: +counts for place, counts in found.items() if counts.total()} == expected
    for one in bins:
        known = [value for value, times in expected[one.place].items() if value is not None for _ in range(times)]
        assert one.decided == len(known)
        assert one.mean == (pytest.approx(sum(known) / len(known)) if known else None)
    assert sum(one.without for one in bins) == sum(pair.relevance is None for pair in judged.pairs()) > 0


def test_the_pairs_behind_every_bin_are_those_in_it(judged: Judging) -> None:
    pairs = judged.pairs()
    for along in BinnedBy:
        for one in relevances_along(judged.project, OPERATOR, along):
            for relevance in (None, 0, 3):
                part = PairPart(along, one.place, relevance)
                expected = [
                    pair.pair_id
                    for pair in pairs
                    if place_of(along, pair) == one.place and relevance in (None, pair.relevance)
                ]
                assert ids(found_pairs(judged.project, OPERATOR, part)) == expected
                assert found_pair_count(judged.project, OPERATOR, part) == len(expected)
    whole = [pair.pair_id for pair in pairs]
    assert ids(found_pairs(judged.project, OPERATOR, PairPart(), first=20, most=7)) == whole[20:27]


def test_same_words_but_not_perfect(judged: Judging) -> None:
    same = [pair for pair in judged.pairs() if f"{pair.similarity:.6f}" == "1.000000"]
    counts, without = same_words(judged.project, OPERATOR)
    assert counts == tuple(sum(pair.relevance == value for pair in same) for value in range(5))
    assert without == sum(pair.relevance is None for pair in same)
    expected = [pair.pair_id for pair in same if pair.relevance is not None and pair.relevance < 4]
    assert 0 < len(expected) < len(same)
    assert ids(found_pairs(judged.project, OPERATOR, PairPart(same_words=True))) == expected


def test_coverage_of_videos(judged: Judging) -> None:
    videos = coverage(judged.project, OPERATOR)
    assert sum(video.moments for video in videos) == 48
    for video in videos:
        mine = [pair for pair in judged.pairs() if pair.video == video.video]
        known = [pair.relevance for pair in mine if pair.relevance is not None]
        assert (video.pairs, video.queries) == (len(mine), len({pair.query_id for pair in mine}))
        assert video.judged_moments == len({pair.start_s for pair in mine})
        assert (video.decided, video.relevant, video.relevance_sum) == (
            *(len(known), sum(value > 0 for value in known), sum(known)),
        )
        assert ids(found_pairs(judged.project, OPERATOR, PairPart(video=video.video_id))) == [
            pair.pair_id for pair in mine
        ]
    (show,) = coverage_by_show(videos)
    assert (show.show, show.videos, show.pairs) == (None, 6, 60)


def test_shows_are_told_by_names_and_by_what_the_draw_was_told(changing: Judging) -> None:
    names = {"v0": "castle_s01e02", "v1": "castle_s01e03", "v2": "s01e01"}
    with writing(changing.project.store) as db:
        db.conn.executemany("UPDATE video SET name = ? WHERE name = ?", [(new, old) for old, new in names.items()])
    videos = coverage(changing.project, OPERATOR)
    shows = {show.show: show for show in coverage_by_show(videos)}
    assert {name: show.videos for name, show in shows.items()} == {"castle": 2, "": 1, None: 3}
    of_castle = [video for video in videos if video.show == "castle"]
    assert shows["castle"].pairs == sum(video.pairs for video in of_castle)
    assert shows["castle"].mean == pytest.approx(
        sum(video.relevance_sum for video in of_castle) / sum(video.decided for video in of_castle)
    )


def test_durations_of_moments_and_videos(judged: Judging) -> None:
    moments, videos = durations(judged.project, OPERATOR)
    assert moments is not None
    assert videos is not None
    assert (moments.count, moments.least, moments.most) == (48, 0.5, 3.5)
    # From 0.5 s to 3.5 s there are twelve moments of each duration.
    assert [bar[:3] for bar in moments.bars] == [(0, 1, 12), (1, 2, 12), (2, 3, 12), (3, 5, 12)]
    out = {(pair.video, pair.start_s): pair.end_s - pair.start_s for pair in judged.pairs()}
    assert [bar[3] for bar in moments.bars] == [
        sum(low <= s < high for s in out.values()) for low, high, *_ in moments.bars if high
    ]
    assert (videos.mean, videos.bars) == (60, [(60, 90, 6, 6)])


def test_agreement_is_that_of_the_board(judged: Judging) -> None:
    board = {one.name: one for one in agreement_board(judged.project, OPERATOR, resamples=0).queries}
    queries = {query.query_id: query.query for query in list_queries(judged.project, OPERATOR)}
    found = agreed_queries(judged.project, OPERATOR)
    assert {one.query_id: one.agreement.name for one in found} == queries
    assert all(one.agreement == board[one.agreement.name] for one in found)
    assert [one.agreement.within for one in found] == sorted(one.agreement.within or 0 for one in found)


def test_the_version_changes_with_every_grade_and_decision(changing: Judging) -> None:
    versions = [explored_version(changing.project, OPERATOR)]
    pairs = changing.pairs()
    changing.grade(2, pairs[8].pair, 3)
    versions.append(explored_version(changing.project, OPERATOR))
    adjudicate(changing.project, changing.lead, pairs[4].pair, 2, "seen", now=NOW)
    versions.append(explored_version(changing.project, OPERATOR))
    assert len(set(versions)) == 3
    assert explored_version(changing.project, OPERATOR) == versions[-1]


def test_files_hold_what_is_shown(judged: Judging) -> None:
    def read(text: str) -> list[dict[str, Any]]:
        return list(csv.DictReader(io.StringIO(text)))

    bins = relevances_along(judged.project, OPERATOR, BinnedBy.RANK)
    rows = read(explored_csv(bins))
    assert [int(row["with_relevance"]) for row in rows] == [one.decided for one in bins]
    assert [row["mean"] == "" for row in rows] == [one.mean is None for one in bins]
    pairs = read(explored_csv(found_pairs(judged.project, OPERATOR, PairPart())))
    assert [row["relevance"] for row in pairs] == [
        "" if pair.relevance is None else str(pair.relevance) for pair in judged.pairs()
    ]
    moments, _ = durations(judged.project, OPERATOR)
    assert moments is not None
    assert sum(int(row["in_corpus"]) for row in read(explored_csv(moments))) == 48
    assert len(read(explored_csv(coverage(judged.project, OPERATOR)))) == 6
    assert len(read(explored_csv(agreed_queries(judged.project, OPERATOR)))) == 3
    assert explored_csv([]) == "\n"


@given(st.lists(st.tuples(st.integers(-3, 20), st.none() | st.integers(0, 2), st.integers(1, 9))))
def test_bins_have_no_gaps_and_lose_nothing(counts: list[tuple[int, int | None, int]]) -> None:
    bins = rules.bins(BinnedBy.SIMILARITY, counts, 2)
    assert sum(one.decided + one.without for one in bins) == sum(pairs for _, _, pairs in counts)
    assert [one.place for one in bins] == list(range(bins[0].place, bins[-1].place + 1)) if bins else not counts
    assert all(isinstance(one, RelevanceBin) and (one.low < one.high or one.low == one.high == 1.0) for one in bins)


def test_videos_without_pairs_are_covered_by_nothing() -> None:
    video = VideoCoverage(1, "a", None, 10.0, 3, 0, 0, 0, 0, 0, 0)
    assert video.mean is None
    (show,) = rules.by_show([video])
    assert (show.covered, show.videos, show.mean) == (0, 1, None)
    assert rules.lasting([], []) is None


def ids(pairs: list[FoundPair]) -> list[int]:
    return [pair.pair_id for pair in pairs]
