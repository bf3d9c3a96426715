"""Replaying a release and the published grades: all grades give the release's own truth and scores."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.replay.replaying import ReplayInputs, fewest, prepare, replay_study
from backend.campaign.release.replay.rules.truth import relevance_of
from backend.campaign.review.adjudicating import adjudicate
from backend.core.errors import InputError
from backend.scoring.scored_files import evaluate_files
from campaign.release.replay.published import LADDER, SECOND, TABLE_5, blocks, write_pairs, write_runs
from support import NOW, PARTLY, Judging


@pytest.fixture
def release(judging: Judging, tmp_path: Path) -> Path:
    """A release of graded pairs, some of them disputed, discarded, adjudicated or short of a grade."""
    rng = np.random.default_rng(11)
    for number, pair in enumerate(judging.pairs()):
        grades = [int(np.clip(4 - number % 20 // 4 + step, 0, 4)) for step in rng.integers(-1, 3, 4)]
        more = 4 if abs(grades[0] - grades[1]) > 1 else 2
        for who, grade in zip(rng.permutation(4).tolist(), grades[: 1 if number == 7 else more], strict=False):
            judging.grade(who, pair.pair, grade)
    pair = judging.pairs()[0].pair
    adjudicate(judging.project, judging.lead, pair, 2, "the clip begins later", now=NOW)
    export_release(judging.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)
    return tmp_path / "release"


def runs_of(release: Path, folder: Path) -> dict[str, Path]:
    """Three runs that rank each query's moments by relevance, backwards, and at random."""
    moments: dict[str, list[list[object]]] = {}
    for row in csv.DictReader((release / "raw_query_moment_pair.csv").open(encoding="utf-8")):
        start, end = float(row["start"]), float(row["end"])
        value = float(row["relevance"] or 0)
        moments.setdefault(row["query_id"], []).append([row["video_name"], start, end, value])
    rng = np.random.default_rng(4)
    paths = {}
    for name, sign, noise in (("best", 1, 0.1), ("worst", -1, 0.1), ("middle", 1, 4)):
        run = {
            query: sorted(
                ([*place, sign * float(value) + rng.normal(scale=noise)] for *place, value in rows),  # type: ignore[arg-type]
                key=lambda row: -float(row[3]),
            )
            for query, rows in moments.items()
        }
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(json.dumps(run))
    return paths


def inputs_of(release: Path, runs: dict[str, Path], **more: object) -> ReplayInputs:
    files = release / "raw_annotation.csv", release / "raw_query_moment_pair.csv"
    return ReplayInputs(*files, runs, k=5, **more)  # type: ignore[arg-type]


def test_all_grades_give_the_release_itself(release: Path, tmp_path: Path) -> None:
    runs = runs_of(release, tmp_path)
    replay, _ = prepare(inputs_of(release, runs))
    relevance = relevance_of(replay.given, np.ones(len(replay.given.pair), dtype=bool))
    rows = list(csv.DictReader((release / "raw_query_moment_pair.csv").open(encoding="utf-8")))
    graded = {row["pair_id"] for row in csv.DictReader((release / "raw_annotation.csv").open(encoding="utf-8"))}
    stated = {
        (row["query_id"], float(row["start"]), float(row["end"]), row["video_name"]): int(row["relevance"] or -1)
        for row in rows
        if row["pair_id"] in graded
    }
    truth = replay.truth
    names = [truth.videos[number] for number in truth.video]
    keys = zip((str(truth.queries[at]) for at in truth.query), truth.start_s, truth.end_s, names, strict=True)
    assert dict(zip(keys, relevance.tolist(), strict=True)) == stated
    assert sorted(set(stated.values())) != [-1], "some pairs have a relevance"
    assert "adjudicated" in {row["verdict"] for row in rows}

    values = replay.values(relevance)
    for split in ("val", "test"):
        ids = [str(entry["query_id"]) for entry in json.loads((release / f"{split}.json").read_text())]
        places = [list(map(str, truth.queries)).index(one) for one in dict.fromkeys(ids)]
        for number, path in enumerate(runs.values()):
            scored = evaluate_files(
                release / f"{split}.json", [path], k=[5], mu=[0.5], unknown="ignore", missing="zero"
            )
            mean = scored["runs"][0]["measures"]["ndcg@5,0.5"]
            assert values[number, places].mean() == pytest.approx(mean, abs=1e-12)


def test_settings_that_save_nothing_change_nothing(release: Path, tmp_path: Path) -> None:
    policies = {"single": [1.0], "batches": [0.0], "raters": [0.0], "active": [1.0], "random": [1.0]}
    study = replay_study(inputs_of(release, runs_of(release, tmp_path)), policies, draws=2, resamples=50)
    assert [row["policy"] for row in study.rows] == ["all grades", *policies]
    for row in study.rows:
        assert (row["saved"], row["change"], row["tau_b"], row["swapped"]) == (0, 0, 1, 0)
        assert (row["change_low"], row["change_high"], row["tau_low"]) == (0, 0, 1)


def test_less_grades_are_used_and_the_table_says_how_many(release: Path, tmp_path: Path) -> None:
    runs = runs_of(release, tmp_path)
    study = replay_study(inputs_of(release, runs), {"random": [0.5], "raters": []}, draws=3, resamples=50, seed=2)
    given = float(str(study.rows[0]["grades"]))
    assert [(row["policy"], row["setting"]) for row in study.rows[1:]] == [
        ("random", 0.5),
        *(("raters", n) for n in (1, 2, 4, 6, 8)),
    ]
    for row in study.rows[1:]:
        assert 0 <= float(str(row["grades"])) < given
        assert float(str(row["saved"])) + float(str(row["grades"])) == pytest.approx(given)
        assert float(str(row["saved_share"])) == pytest.approx(float(str(row["saved"])) / given)
    assert study == replay_study(
        inputs_of(release, runs), {"random": [0.5], "raters": []}, draws=3, resamples=50, seed=2
    )
    for found in fewest(study, -1):
        cheapest = min(
            (row for row in study.rows if row["policy"] == found.policy and row["tau_b"] is not None),
            key=lambda row: float(str(row["grades"])),
            default=None,
        )
        assert found.enough == cheapest
    assert all(found.enough is None and found.sure is None for found in fewest(study, 1.1))


def test_queries_that_no_run_answers_and_pairs_of_another_file_are_left_out(release: Path, tmp_path: Path) -> None:
    runs = runs_of(release, tmp_path)
    one, *_ = json.loads(runs["best"].read_text())
    for path in runs.values():
        path.write_text(json.dumps({one: json.loads(path.read_text())[one]}))
    lines = (release / "raw_annotation.csv").read_text().splitlines(keepends=True)
    raw = tmp_path / "raw.csv"
    other = lines[1].split(",")
    at = lines[0].split(",").index("pair_id")
    other[at] = "999999"
    raw.write_text("".join([*lines, ",".join(other)]))
    study = replay_study(
        ReplayInputs(raw, release / "raw_query_moment_pair.csv", runs, k=5), {"random": [0.5]}, resamples=20
    )
    assert study.choices["queries"] == 1
    assert study.warnings[:2] == [
        "1 graded pairs are not in raw_query_moment_pair.csv and were left out",
        "2 queries that no run answers were left out",
    ]


def test_what_is_refused(release: Path, tmp_path: Path) -> None:
    runs = runs_of(release, tmp_path)
    with pytest.raises(InputError, match="give at least two runs"):
        replay_study(inputs_of(release, dict(list(runs.items())[:1])))
    with pytest.raises(InputError, match="'best' is not one of single, settled, batches, raters, active, random"):
        replay_study(inputs_of(release, runs), {"best": []})
    with pytest.raises(InputError, match=r"single=1\.5 is not from 0 to 1"):
        replay_study(inputs_of(release, runs), {"single": [1.5]})
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("pair_id,query,video_name,start,end,similarity\n1,a,v,0,1,1\n")
    with pytest.raises(InputError, match="a replay needs the column query_id"):
        replay_study(ReplayInputs(release / "raw_annotation.csv", pairs, runs))
    pairs.write_text("pair_id,query,query_id,video_name,start,end,similarity\n999999,a,1,v,0,1,1\n")
    with pytest.raises(InputError, match=r"has none of the pairs that raw_annotation\.csv grades"):
        replay_study(ReplayInputs(release / "raw_annotation.csv", pairs, runs))
    other = tmp_path / "other.json"
    other.write_text('{"nobody": [["v", 0, 1, 1]]}')
    with pytest.raises(InputError, match="no run answers any of its queries"):
        replay_study(inputs_of(release, {"a": other, "b": other}))


def test_pair_numbers_tell_the_published_queries_and_batches(shared: Path, tmp_path: Path) -> None:
    """TVR-Ranking, section 3.4: 500 + 2,781 queries, 236 + 1,308 of them with a second batch."""
    raw = shared / "data/tvr_ranking/raw_annotation.csv"
    table = write_pairs(raw, tmp_path / "pairs.csv")
    query_of = blocks(table[:, 0])
    assert len(set(query_of.values())) == 3_281
    assert len(query_of) - 3_281 == 1_544
    # It had 14,382 + 325 validation and 80,060 + 1,716 test pairs: 13 and 4 fewer than full batches of 20 would have.
    sizes = np.bincount(table[:, 0] // 20)
    lacking = [20 * (264 + 2 * 236) - 14_382 - 325, 20 * (1_473 + 2 * 1_308) - 80_060 - 1_716]
    assert sorted(20 - sizes[(sizes > 0) & (sizes < 20)]) == sorted(lacking) == [4, 13]
    # 236 validation queries have a second batch, so the validation queries are not the first 500 blocks.
    assert sum(block + SECOND in query_of for block in range(500)) == 241
    # The first pair is the moment of the query's own caption; where there is a second batch, the end of the first is
    # relevant, as the lead's rule asks.
    rank, mean = table[:, 2], table[:, 3] / 100
    assert mean[rank == 1].mean() > mean[rank == 2].mean() + 1
    twice = np.isin(table[:, 1], table[rank > 20, 1])
    last = (rank > 15) & (rank <= 20)
    assert mean[last & twice].mean() > 2 > 1.2 > mean[last & ~twice].mean()


@pytest.mark.long
@pytest.mark.parametrize(
    ("aims", "columns"),
    [
        pytest.param(TABLE_5, (4, 5), id="nine"),
        pytest.param(LADDER, (6, 7), id="thirty", marks=pytest.mark.rare),  # a minute, most of it to make systems up
    ],
)
def test_the_published_grades_are_replayed(
    shared: Path, tmp_path: Path, aims: dict[str, float], columns: tuple[int, int]
) -> None:
    """The figures of docs/fewer-grades.md, to the digits that it prints. For nine systems every third line is tried."""
    page = (Path(__file__).parents[4] / "docs/fewer-grades.md").read_text(encoding="utf-8")
    printed = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    printed = [cells for cells in printed if "=" in cells[0]][:: 3 if aims is TABLE_5 else 1]
    settings: dict[str, list[float]] = {}
    for name, *_ in printed:
        policy, _, setting = name.strip("`").partition("=")
        settings.setdefault(policy, []).append(float(setting))
    raw = shared / "data/tvr_ranking/raw_annotation.csv"
    table = write_pairs(raw, tmp_path / "pairs.csv")
    runs = write_runs(table, raw, tmp_path / "pairs.csv", tmp_path, aims)
    study = replay_study(ReplayInputs(raw, tmp_path / "pairs.csv", runs), settings)
    whole, *rows = study.rows
    assert (whole["grades"], whole["pairs"], study.choices["queries"]) == (227_808, 94_442, 3_281)
    by_name = {f"`{row['policy']}={row['setting']:g}`": row for row in rows}
    assert len(by_name) == len(printed) > 4
    for cells in printed:
        row = by_name[cells[0]]
        assert [cells[at] for at in columns] == [f"{row[key]:.3f}" for key in ("tau_b", "tau_low")]
        if aims is TABLE_5:
            shown = f"{row['grades']:,.0f}", f"{100 * float(str(row['saved_share'])):.1f} %", f"{row['change']:+.4f}"
            assert (cells[1], cells[2], cells[3]) == shown
