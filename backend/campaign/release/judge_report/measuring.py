"""Measure the grades of a model against people's, and the order of a project's systems by both.

*Reads* grades of models, judgements, decisions, pairs and stored runs. *Writes* nothing.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.monitoring.model_judge import rows as judge_rows
from backend.campaign.monitoring.model_judge.model import Judge, ModelGrade
from backend.campaign.monitoring.quality import rows as quality_rows
from backend.campaign.monitoring.quality.rules.pairs import standing
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.board import kept_runs
from backend.campaign.release.board.leaderboard import why_unfit
from backend.campaign.release.judge_report import rows, rules
from backend.campaign.release.judge_report.model import LEFT_OUT, JudgeReport, MeasureOrder
from backend.campaign.release.judge_report.rows import Settled
from backend.campaign.release.judge_report.rules import SPLITS, Codes, Halves, JudgedPairs
from backend.campaign.release.statistics.rules import words
from backend.campaign.review.model import ReviewList
from backend.campaign.review.rows import pair_lists
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.text_files import csv_text
from backend.scoring.files.entries import parse_truth_mapping
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import DEFAULT_K, DEFAULT_MU, Options, Settings, settle
from backend.scoring.scoreboard import Scoreboard, score_runs
from backend.scoring.scores import prepare_truth
from backend.scoring.statistics.bootstrap import RESAMPLES
from backend.scoring.statistics.orders import rank_changes, taus
from backend.store.connection import Database, reading

UPPER_BOUND = said("an upper bound, which is never ranked")
NOT_CHOSEN = said("not chosen")
_STEP = said("scoring runs")


@in_charge
def judge_of(project: Project, by: Lead | Operator, model: str | None = None, prompt: str | None = None) -> Judge:
    """Return the judge with this model and prompt version; of several, the one that was asked last.

    Raises:
        ProjectError: there is none. The message lists those that there are.
    """
    judges = [summary.judge for summary in judge_rows.summaries(project.store.db)]
    if not judges:
        raise ProjectError(said("no model has graded pairs of this project: run `reelrank judge`"))
    for judge in judges:
        if model in (None, judge.model) and prompt in (None, judge.prompt_version):
            return judge
    known = "; ".join(f"{judge.model} {judge.prompt_version}" for judge in judges)
    raise ProjectError(
        said("no grades of model {model}, prompt {prompt}: there are {known}", model=model, prompt=prompt, known=known)
    )


@in_charge
def judge_report(
    project: Project,
    by: Lead | Operator,
    judge: Judge,
    *,
    split: str = "",
    runs: Collection[str] = (),
    splits: int = SPLITS,
    resamples: int = RESAMPLES,
    progress: Progress | None = None,
) -> JudgeReport:
    """Return how the grades of a judge compare with people's, and how they would order the project's runs.

    Pairs count that have a relevance, two grades of people or more, and a grade of the judge. Left out are pairs of
    probes, and pairs that a lead decided after they had opened a model's grade of them. Both truths, people's and the
    judge's, consist of these pairs alone. Runs are scored as on the leaderboard, over the queries that all of them
    answer.

    Args:
        project: the project.
        by: a lead or an operator.
        judge: the judge, see `judge_of`.
        split: only pairs of this split; empty for all.
        runs: the names of stored runs to order; empty for all.
        splits: how often the people of each pair are split at random into halves, from seeds 0, 1 and so on.
        resamples: how many samples of queries to draw for the intervals.
        progress: called with the step, how much of it is done, and its total.

    Raises:
        ProjectError: no pair can be compared, or there is no such split or run.
    """
    if split and split not in list(Split):
        raise ProjectError(said("{split!r} is no split: choose val, test or train", split=split))
    if splits < 1 or resamples < 1:
        raise ProjectError(said("draw at least one split and one resample"))
    compared = _compared(project, judge, split)
    judged, grades = compared.judged, compared.grades
    drawn = [rules.halves(judged, seed) for seed in range(splits)]
    length, length_names = rules.length_groups([len(words(text)) for text in compared.texts])
    show, show_names = rules.show_groups([grade.video for grade in grades])
    grade_names = [str(grade) for grade in range(judged.highest + 1)]
    by_grade, by_length, by_show = (
        rules.bias_groups(judged, group, names, resamples=resamples)
        for group, names in ((judged.relevance, grade_names), (length, length_names), (show, show_names))
    )
    report = JudgeReport(
        judge,
        split,
        pairs=len(grades),
        queries=judged.queries,
        left_out=compared.left_out,
        figures=rules.figures(judged, drawn, resamples=resamples),
        confusion=rules.confusion(judged),
        by_grade=by_grade,
        by_length=by_length,
        by_show=by_show,
        apart=rules.apart(judged),
        splits=splits,
        resamples=resamples,
    )
    return _with_orders(project, by, report, compared, drawn, runs, progress)


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """The compared pairs: their columns, the judge's grades and the texts of their queries, in the same order."""

    judged: JudgedPairs
    grades: Sequence[ModelGrade]
    texts: Sequence[str]
    left_out: Mapping[str, int]


def _compared(project: Project, judge: Judge, split: str) -> _Compared:
    with reading(project.store) as db:
        people, with_model = rows.settled(db), rows.decided_with_model(db)
        pair, given = _grades_of_people(db)
        found = [grade for grade in judge_rows.grades(db, judge) if split in ("", people[grade.pair_id].split)]
        grading = project_rows.grading(db)
    count = dict(zip(*np.unique(pair, return_counts=True), strict=True))
    left_out = dict.fromkeys(LEFT_OUT, 0)
    grades = []
    for grade in found:
        if why := _why_left_out(people[grade.pair_id], int(count.get(grade.pair_id, 0)), grade.pair_id in with_model):
            left_out[why] += 1
        else:
            grades.append(grade)
    if not grades:
        raise ProjectError(
            said(
                "nothing to compare yet: no pair that {model} graded is settled by two people or more",
                model=judge.model,
            )
        )
    grades.sort(key=lambda grade: (grade.query_id, grade.pair_id))
    ids = np.array([grade.pair_id for grade in grades])
    order = np.argsort(ids)
    place = np.searchsorted(ids, pair, sorter=order)
    place = order[np.minimum(place, len(ids) - 1)]
    known = ids[place] == pair
    settled = [people[grade.pair_id] for grade in grades]
    judged = JudgedPairs(
        query=np.unique([grade.query_id for grade in grades], return_inverse=True)[1].astype(np.int64),
        relevance=np.array([one.relevance for one in settled], dtype=np.int64),
        agreed=np.array([one.agreed for one in settled], dtype=np.float64),
        model=np.array([grade.grade for grade in grades], dtype=np.int64),
        of_pair=place[known].astype(np.int64),
        grade=given[known],
        highest=grading.scale.highest,
        rounding=grading.rounding,
    )
    return _Compared(judged, grades, [one.text for one in settled], {why: n for why, n in left_out.items() if n})


def _grades_of_people(db: Database) -> tuple[Codes, Codes]:
    """Return two columns: the pair id and the grade of every current judgement."""
    given = standing(quality_rows.given(db))
    return given.pair, given.grade


def _why_left_out(settled: Settled, grades: int, with_model: bool) -> str:
    """Return the key in `LEFT_OUT` of the reason why a pair is not compared; empty if it is compared."""
    if settled.probe:
        return "probe"
    if settled.relevance is None:
        return "unsettled"
    if grades < 2:
        return "one_grade"
    return "model_seen" if with_model else ""


def _with_orders(
    project: Project,
    by: Lead | Operator,
    report: JudgeReport,
    compared: _Compared,
    drawn: Sequence[Halves],
    chosen: Collection[str],
    progress: Progress | None,
) -> JudgeReport:
    """Return the report with the orders of the project's runs by the truths of people, of the judge and of halves."""
    settings = settle("paper", DEFAULT_K, DEFAULT_MU, Options(unknown="ignore"))
    truth = _truth(project, compared.grades)
    runs, left_out = _runs(project, by, truth, settings, chosen)
    answered = [{str(query) for query in run.queries} for run in runs.values()]
    flags = np.array([all(str(query) in ids for ids in answered) for query in truth.queries], dtype=bool)
    report = replace(report, runs=tuple(runs), runs_left_out=left_out, order_queries=int(flags.sum()))
    if len(runs) < 2:
        return replace(report, no_orders=said("fewer than two runs of the project answer these queries: add runs"))
    if not flags.any():
        return replace(report, no_orders=said("no query is answered by every run: choose a split, or other runs"))
    common, kept = truth.of_queries(flags), flags[truth.query]
    judged = compared.judged
    columns = [judged.relevance, judged.model, *(half for split in drawn for half in split)]

    def boards() -> Iterator[Scoreboard]:
        for number, column in enumerate(columns):
            yield score_runs(replace(common, relevance=column[kept].astype(np.float64)), runs, settings)
            if progress:
                progress(_STEP, number + 1, len(columns))

    by_people, by_model, *of_halves = boards()
    firsts, seconds = of_halves[::2], of_halves[1::2]
    measures = len(settings.keys)
    half = rules.spreads([taus(by_model, board) for board in of_halves], measures)
    ceiling = rules.spreads([taus(*two) for two in zip(firsts, seconds, strict=True)], measures)
    changes = rank_changes(by_people, by_model, resamples=report.resamples)
    return replace(report, orders=tuple(map(MeasureOrder, changes, half, ceiling)))


def _truth(project: Project, grades: Sequence[ModelGrade]) -> Truth:
    """Return a truth of these pairs, in their order. Its relevances are replaced before runs are scored."""
    moments: dict[int, list[dict[str, object]]] = {}
    for grade in grades:
        moment = {"video": grade.video, "start": grade.start_s, "end": grade.end_s, "relevance": 0}
        moments.setdefault(grade.query_id, []).append(moment)
    with reading(project.store) as db:
        durations = corpus.video_durations(db)
    return replace(parse_truth_mapping(moments, project.name), durations=durations)


def _runs(
    project: Project, by: Lead | Operator, truth: Truth, settings: Settings, chosen: Collection[str]
) -> tuple[dict[str, Run], dict[str, str]]:
    """Return the stored runs that can be ordered, by name, and the other ones with the reason."""
    listed = kept_runs.list_runs(project, by)
    if missing := sorted(set(chosen) - {entry.name for entry in listed}):
        known = ", ".join(entry.name for entry in listed) or said("none")
        raise ProjectError(said("the project has no run {name}: it has {known}", name=missing[0], known=known))
    key, runs, left_out = prepare_truth(truth, settings), {}, {}
    for entry in listed:
        if chosen and entry.name not in chosen:
            left_out[entry.name] = NOT_CHOSEN
        elif entry.upper_bound:
            left_out[entry.name] = UPPER_BOUND
        else:
            run = kept_runs.load_run(project, by, entry.name)
            if why := why_unfit(run, key, settings):
                left_out[entry.name] = why
            else:
                runs[entry.name] = run
    return runs, left_out


@in_charge
def differences_csv(project: Project, by: Lead | Operator) -> str:
    """Return the pairs at which a model and people differ by 2 or more as CSV, in the suggested order of review.

    It has no grade of a model, so that a lead who reads it can still decide without it. The column `page` has the
    address of each pair on the page Disputes, without the host.
    """
    with reading(project.store) as db:
        found = pair_lists.page(db, ReviewList.MODEL, "", start=0, size=pair_lists.counts(db)[ReviewList.MODEL])
    columns = ["page", "query", "video", "start_s", "end_s", "grades", "relevance"]
    rows = (
        (
            *(f"/disputes?show={ReviewList.MODEL}&case={row.pair}", row.query, row.video, row.start_s, row.end_s),
            *(" ".join(map(str, row.grades)), row.relevance),
        )
        for row in found.rows
    )
    return csv_text(columns, rows, for_people=True)
