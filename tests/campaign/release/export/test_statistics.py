"""A release in numbers: by pandas over the released files, of the published raw annotations, and in figures."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.judging.rules import decide
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export import card
from backend.campaign.release.export.diffing import documents as read
from backend.campaign.release.export.diffing import release_statistics
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.rules import statistics
from backend.campaign.release.export.rules.statistics import Documents, JudgedPair, release_statistics_table
from backend.campaign.release.statistics.rules import Spread
from backend.campaign.review.adjudicating import adjudicate
from backend.core.errors import InputError
from small_release import PAIRS, SMALL, TEST, VAL
from support import NOW, PARTLY, Judging


def test_a_release_without_truth_is_drawn_too() -> None:
    assert all(data.startswith(b"\x89PNG") for data in card.figures(replace(SMALL, truth={"val": []})).values())


@given(st.lists(st.floats(min_value=0.01, max_value=20_000), min_size=1))
def test_bars_hold_every_value(values: list[float]) -> None:
    bars = card.bars_of(values)
    assert sum(bar["count"] for bar in bars) == len(values)
    width = bars[0]["high"] - bars[0]["low"]
    assert all(bar["high"] - bar["low"] == pytest.approx(width) for bar in bars)
    for bar in bars[:-1]:
        assert bar["count"] == sum(bar["low"] <= value < bar["high"] for value in values)


def test_the_same_data_in_any_order_are_the_same_bytes() -> None:
    shuffled = replace(
        SMALL, truth={split: list(reversed(queries)) for split, queries in SMALL.truth.items()}, pairs=PAIRS[::-1]
    )
    drawn = card.figures(SMALL)
    assert tuple(drawn) == card.FIGURES
    assert drawn == card.figures(shuffled)
    assert statistics.markdown(statistics.statistics(SMALL)) == statistics.markdown(statistics.statistics(shuffled))
    assert all(f"]({name})" in card.markdown() for name in drawn)


def test_a_release_is_counted_as_pandas_counts_its_files(judging: Judging, tmp_path: Path) -> None:
    """Everything of the folder of a release, by columns and groups."""
    grades = ((1, 2), (3, 3), (0, 4, 3, 4), (0, 4, 1, 3), (0, 3), (2,), (4, 4), (1, 1), (0, 0))
    keys = [pair.pair for pair in judging.pairs()]
    for place, key in enumerate(keys[:50]):
        for who, grade in enumerate(grades[place % len(grades)]):
            judging.grade(who, key, grade)
    adjudicate(judging.project, judging.lead, keys[3], 2, "looked again", now=NOW)
    out = tmp_path / "release"
    export_release(judging.project, OPERATOR, out, PARTLY, now=NOW)
    documents = read(out)
    assert documents is not None
    found = release_statistics(out)
    assert found == statistics.statistics(documents)
    frame = pd.DataFrame(
        {"split": split, "query_id": query["query_id"], "query": query["query"]} | one
        for split in ("val", "test")
        for query in documents.truth[split]
        for one in query["relevant_moment"]
    )
    frame["start"], frame["end"] = (frame["timestamp"].str[place] for place in (0, 1))
    pairs = pd.read_csv(out / "raw_query_moment_pair.csv")
    raw = pd.read_csv(out / "raw_annotation.csv").groupby("pair_id").size()
    pairs["grades"] = pairs["pair_id"].map(raw).fillna(0)
    assert [part.part for part in found.parts] == ["val", "test", "all"]
    for part in found.parts:
        mine = frame if part.part == "all" else frame[frame["split"] == part.part]
        given_out = pairs if part.part == "all" else pairs[pairs["split"] == part.part]
        spans = mine.drop_duplicates(["video_name", "start", "end"])
        lasting = spans["end"] - spans["start"]
        by_query = mine.groupby("query_id")
        texts = by_query["query"].first()
        assert part.queries == len(texts)
        assert (part.moments, part.videos) == (len(spans), mine["video_name"].nunique())
        assert part.moment_hours == pytest.approx(lasting.sum() / 3600)
        assert part.video_hours == pytest.approx(spans.drop_duplicates("video_name")["duration"].sum() / 3600)
        assert part.vocabulary == texts.str.lower().str.findall(r"\w+").explode().nunique()
        equal(part.query_words, texts.str.findall(r"\w+").str.len())
        equal(part.moment_s, lasting)
        equal(part.ratio, lasting / spans["duration"])
        equal(part.video_s, spans.drop_duplicates("video_name")["duration"])
        equal(part.judged, by_query.size())
        for least in range(1, 5):
            relevant = mine["relevance"] >= least
            equal(part.at_least[least - 1], relevant.groupby(mine["query_id"]).sum())
        assert list(part.by_relevance) == [int((mine["relevance"] == value).sum()) for value in range(5)]
        verdicts, in_consensus = given_out["verdict"].value_counts(), given_out[given_out["verdict"] == "consensus"]
        assert part.settled.by_grades == in_consensus["grades"].value_counts().to_dict()
        assert (part.settled.discarded, part.settled.adjudicated) == (
            *(verdicts.get(name, 0) for name in ("discarded", "adjudicated")),
        )
        assert part.settled.waiting == verdicts.get("open", 0) + verdicts.get("escalated", 0)
        assert part.batches == {1: given_out["query_id"].nunique()}
    whole, board = found.parts[-1].settled, agreement_board(judging.project, OPERATOR).settled[0]
    assert (whole.by_grades[2], whole.by_grades[4]) == (board.by_two, board.by_four)
    assert (whole.adjudicated, whole.discarded) == (board.adjudicated, board.discarded) == (1, 5)


@pytest.mark.long
def test_the_published_raw_annotations(shared: Path) -> None:
    """94,442 of 96,483 pairs in consensus, 81.94 % settled by two: as the paper and its files have it."""
    raw = pd.read_csv(shared / "data/tvr_ranking/raw_annotation.csv")
    pairs = [
        JudgedPair(
            "val", int(str(pair)) // 20, int(str(pair)) % 20 + 1, decide(list(grades), 1).verdict.value, len(grades)
        )
        for pair, grades in raw.groupby("pair_id")["relevance"]
    ]
    # Two pairs that disagree were never sent on; nobody waits for them any more.
    pairs = [pair._replace(verdict="discarded") if pair.verdict == "escalated" else pair for pair in pairs]
    found = statistics.statistics(Documents({"val": []}, {}, pairs, highest=4, batch_size=20)).parts[0]
    settled = found.settled
    assert (settled.pairs, settled.discarded, settled.waiting) == (96_483, 2_041, 0)
    assert sum(settled.by_grades.values()) == 94_442
    assert round(100 * settled.by_grades[2] / settled.pairs, 2) == 81.94
    # Section 3.4: 264 + 1,473 queries with one batch, 236 + 1,308 with two. Ids are given out by twenties, and no file
    # says whose they are. Two batches are short: 20 x (264 + 2 x 236) - 13 = 14,382 + 325 pairs of validation, and
    # 20 x (1,473 + 2 x 1,308) - 4 = 80,060 + 1,716 of test.
    assert found.batches == {1: 264 + 2 * 236 + 1_473 + 2 * 1_308}
    sizes = pd.Series([pair.query_id for pair in pairs]).value_counts()
    assert sorted(20 - sizes[sizes < 20]) == [4, 13]


def equal(spread: Spread | None, values: "pd.Series[Any]") -> None:
    assert spread is not None
    assert spread.n == len(values)
    assert (spread.least, spread.mean, spread.most) == pytest.approx((values.min(), values.mean(), values.max()))


def test_what_a_release_does_not_tell_is_not_counted(tmp_path: Path) -> None:
    """A published release may have its truth alone; durations then come from the list of videos."""
    moments = [{**one, "duration": None} for one in VAL[0]["relevant_moment"]]
    (tmp_path / "val.json").write_text(json.dumps([{**VAL[0], "relevant_moment": moments}]))
    with pytest.raises(InputError, match=r"val\.json, row 1: query 1, moment 1: no file says how long a") as refusal:
        release_statistics(tmp_path)
    assert len(refusal.value.problems) == 3
    (tmp_path / "video_corpus.json").write_text('{"a": [10.0, 0], "b": [40.0, 1]}')
    found = release_statistics(tmp_path)
    assert found is not None
    assert [part.part for part in found.parts] == ["val", "all"]
    assert found.parts[0].ratio == Spread(3, 1 / 40, (5 / 10 + 4 / 40 + 1 / 40) / 3, 0.5)
    rows = release_statistics_table(found)
    assert "pairs of relevance 4" in [row[0] for row in rows]
    assert not any("batch" in row[0] or "settled" in row[0] for row in rows)
    moments[0]["relevance"] = 7
    (tmp_path / "val.json").write_text(json.dumps([{**VAL[0], "relevant_moment": moments}]))
    strange = release_statistics(tmp_path)
    assert strange is not None
    assert strange.parts[0].by_relevance == (1, 1, 0, 0, 0, 0, 0, 1)
    assert release_statistics(Path(__file__).parent) is None


def test_ranks_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "test.json").write_text(json.dumps(TEST))
    (tmp_path / "raw_annotation.csv").write_text("pair_id,worker,relevance\n1,1,2\n1,2,2\n")
    pairs = tmp_path / "raw_query_moment_pair.csv"
    pairs.write_text('pair_id,query_id,split,query,rank,verdict\n1,3,test,"a\nb",2,consensus\n')
    found = release_statistics(tmp_path)
    assert found is not None
    assert found.parts[-1].settled.by_grades == {2: 1}
    pairs.write_text("pair_id,query_id,split,rank,verdict\n1,3,test,0,consensus\n")
    with pytest.raises(InputError, match=r"row 2: `rank` is '0', not a whole number from 1 on"):
        release_statistics(tmp_path)
