"""CampaignPlan a campaign: how many queries, batches and grades tell two systems apart, and what they cost.

Reads: the release of a pilot, and runs on it. Writes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from pathlib import Path

import msgspec
import numpy as np

from backend.campaign.release.earlier.model import PUBLISHED_HIGHEST
from backend.campaign.release.earlier.rules.campaign_files import read_campaign
from backend.core.errors import InputError, Problem
from backend.core.reading import UNDECODABLE, file_bytes
from backend.scoring.files.formats import read_run, read_truth, read_videos
from backend.scoring.files.release_folder import truths_in
from backend.scoring.presets import Options, Preset
from backend.scoring.statistics.power import ALPHA, MOST_QUERIES, POWER, paired_power, queries_needed
from backend.scoring.studies.running import StudyInputs, read_and_score


@dataclass(frozen=True, slots=True)
class CampaignFigures:
    """Counts of a campaign from which another one is planned. `source` says where they come from.

    `seconds` is the working time of one grade. `timed` says in words how it was measured.
    """

    source: str
    queries: int
    batches: int
    pairs: int
    grades: int
    seconds: float
    timed: str


TVR_RANKING = CampaignFigures(
    source="TVR-Ranking (Liang et al., sections 3.2 and 3.4, and its published raw annotations)",
    queries=500 + 2_781,
    batches=264 + 2 * 236 + 1_473 + 2 * 1_308,
    pairs=96_483,
    grades=227_808,
    seconds=1_200 * 3_600 / 227_808,
    timed="around 1,200 working hours for 227,808 grades",
)
"""The figures of TVR-Ranking. Annotators were paid 14 SGD an hour (appendix B.2)."""


@dataclass(frozen=True, slots=True)
class PilotDifference:
    """The difference of two systems over the queries of a pilot: its mean, and its standard deviation (ddof 1)."""

    first: str
    second: str
    difference: float
    sd: float


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """What it takes to find a `difference` of two systems' means with the wanted power.

    `power` is that of this many queries. `hours` is the annotators' working time, and `cost` is None without a wage.
    """

    difference: float
    queries: int
    power: float
    batches: int
    pairs: int
    grades: int
    hours: float
    cost: float | None


def plans(
    differences: Iterable[float],
    sd: float,
    figures: CampaignFigures = TVR_RANKING,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
    wage: float | None = None,
) -> list[CampaignPlan]:
    """Return a plan for each difference of two systems' means that a paired t-test shall find.

    The queries follow from the test. Batches, pairs and grades are as many for each query as in `figures`, rounded up.

    Args:
        differences: the differences, above 0, in the unit of the measure.
        sd: the standard deviation of the difference over queries, above 0.
        figures: the campaign on which the plan is based.
        power: the wanted probability of finding the difference, in (alpha, 1).
        alpha: the level of the two-sided test, in (0, 1).
        wage: the pay of one hour, in any currency.

    Raises:
        InputError: a number is out of range, or a difference needs more than 10 million queries.

    With TVR-Ranking's 69.4 grades a query, at 19 seconds each:

    >>> plan = plans([0.02], 0.2, wage=14)[0]
    >>> plan.queries, plan.batches, plan.grades, round(plan.hours), round(plan.cost or 0)
    (787, 1158, 54644, 288, 4030)
    """
    above_0 = [
        ("sd", sd),
        *([] if wage is None else [("wage", wage)]),
        *(("difference", value) for value in differences),
    ]
    problems = [Problem(name, None, f"{value:g} is not above 0") for name, value in above_0 if not 0 < value < np.inf]
    problems += [
        Problem(name, None, f"{value:g} is not above {low:g} and below 1")
        for name, value, low in (("alpha", alpha, 0.0), ("power", power, alpha))
        if not low < value < 1
    ]
    if problems:
        raise InputError(problems)
    return [_plan(value, sd, figures, power, alpha, wage) for value in dict.fromkeys(differences)]


def _plan(
    difference: float, sd: float, figures: CampaignFigures, power: float, alpha: float, wage: float | None
) -> CampaignPlan:
    queries = queries_needed(difference, sd, power, alpha)
    if queries is None:
        message = f"{difference:g} needs more than {MOST_QUERIES:,} queries: plan for a larger one"
        raise InputError.single("difference", message)

    def scaled(count: int) -> int:
        return ceil(count * queries / figures.queries)

    grades = scaled(figures.grades)
    hours = grades * figures.seconds / 3_600
    reached = paired_power(difference, sd, queries, alpha)
    cost = None if wage is None else hours * wage
    return CampaignPlan(
        difference, queries, reached, scaled(figures.batches), scaled(figures.pairs), grades, hours, cost
    )


def figures_of(release: Path, seconds: float | None = None) -> CampaignFigures:
    """Return the figures of a pilot from the folder of its release.

    The time of a grade is `seconds` if given. Otherwise it is the mean active time of the release's real grades with a
    measured time, or TVR-Ranking's where there are none.

    Raises:
        InputError: the release lacks its raw annotations, pairs or manifest, or they have problems.
    """
    raw, pairs = (release / name for name in ("raw_annotation.csv", "raw_query_moment_pair.csv"))
    campaign = read_campaign(file_bytes(raw), raw.name, file_bytes(pairs), pairs.name, highest=PUBLISHED_HIGHEST)
    if campaign.problems:
        raise InputError(campaign.problems)
    graded = {grade.pair_id for grade in campaign.grades}
    handed_out = [pair for pair in campaign.pairs if pair.pair_id in graded]
    if not handed_out:
        raise InputError.single(raw.name, "holds no grade of a pair: a pilot needs some")
    size = _batch_size(release / "manifest.json")
    active_s = [grade.active_ms / 1_000 for grade in campaign.grades if grade.active_ms and not grade.simulated]
    timed = f"the mean active time of {len(active_s):,} grades"
    if seconds is not None:
        timed = "as given"
    elif active_s:
        seconds = float(np.mean(active_s))
    else:
        seconds, timed = TVR_RANKING.seconds, f"TVR-Ranking's, {TVR_RANKING.timed}; the pilot measured none"
    return CampaignFigures(
        source=str(release),
        queries=len({pair.query for pair in handed_out}),
        batches=len({(pair.query, (pair.rank - 1) // size) for pair in handed_out}),
        pairs=len(handed_out),
        grades=len(campaign.grades),
        seconds=seconds,
        timed=timed,
    )


def pilot_differences(
    release: Path, runs: Mapping[str, Path], measure: str, preset: Preset = "paper", split: str | None = None
) -> list[PilotDifference]:
    """Return how far every two systems differ on the queries of a pilot's release, by a measure such as `ndcg@20,0.5`.

    The queries are those of `split`, or of each split of which a run answers a query. A query that a run lacks counts 0
    for it.

    Raises:
        InputError: lists the problems of the files; or the runs answer fewer than two queries of the pilot, or no two
            systems differ.
    """
    names = read_videos(release)
    answered = {str(query) for path in runs.values() for query in read_run(path, names).queries}
    tables = []
    for name, path in truths_in(release).items():
        if split in (None, name) and answered & set(map(str, read_truth(path).queries)):
            inputs = StudyInputs(
                release,
                runs,
                preset=preset,
                measures=[measure],
                options=Options(unknown="ignore"),
                split=name,
            )
            tables.append(read_and_score(inputs).table)
    if sum(table.values.shape[2] for table in tables) < 2:
        raise InputError.single(
            release, "the runs answer fewer than two of its queries: a standard deviation needs two"
        )
    systems = tables[0].systems
    values = np.concatenate([table.values[0] for table in tables], axis=1)
    found = []
    for first, second in combinations(range(len(values)), 2):
        apart = values[first] - values[second]
        found.append(PilotDifference(systems[first], systems[second], float(apart.mean()), float(apart.std(ddof=1))))
    if not any(pair.sd for pair in found):
        raise InputError.single(release, "no two systems differ on its queries: give other runs, or --sd")
    return found


def largest_sd(found: Sequence[PilotDifference]) -> PilotDifference:
    """Return the pair of systems whose difference varies most over queries; to plan by it is careful."""
    return max(found, key=lambda pair: pair.sd)


def _batch_size(manifest: Path) -> int:
    try:
        found = msgspec.json.decode(file_bytes(manifest), type=dict[str, object])["batch_size"]
    except (*UNDECODABLE, KeyError):
        raise InputError.single(manifest, "has no batch_size; give the folder of a release") from None
    return int(str(found))
