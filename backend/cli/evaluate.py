"""The command that scores runs and explains the scores."""

from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.conventions import (
    Benchmark,
    ChartName,
    Charts,
    FirstStep,
    Nms,
    OnePerVideo,
    Option,
    Outside,
    OutsidePool,
    OwnVideo,
    Pool,
    Preset,
    PresetOption,
    TopVideos,
    TruthOrPool,
    UsualK,
    UsualMu,
    UsualTheta,
    Videos,
    measure_option,
    pool_file,
    read_charts,
    read_option,
)
from backend.cli.options import (
    Caption,
    Cluster,
    Digits,
    Label,
    NamedRuns,
    Percent,
    RunListFile,
    ScoringJobs,
    SeveralRuns,
    Split,
    require_one_split,
    run_list,
    where,
    whole,
    writing,
)
from backend.cli.output import fail, machine_output, now, printed_to, progress_bar, save, tell_written
from backend.cli.score_printing import print_scores
from backend.core.messages import as_text
from backend.core.typed_text import nfc


class Format(StrEnum):
    """How scores are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


class By(StrEnum):
    """What a mean is taken apart by."""

    DURATION = "duration"
    SHOW = "show"
    RELEVANCE = "relevance"
    TYPE = "type"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("evaluate", cls=SeveralRuns)(evaluate)


def evaluate(
    run: NamedRuns = None,
    runs: RunListFile = None,
    split: Split = None,
    truth: TruthOrPool = None,
    pool: Pool = None,
    videos: Videos = None,
    benchmark: Benchmark = None,
    preset: PresetOption = Preset.PAPER,
    k: UsualK = None,
    mu: UsualMu = None,
    theta: UsualTheta = None,
    min_relevance: Annotated[
        int, typer.Option("--min-relevance", metavar="1-4", help="What counts as relevant without grades.")
    ] = 1,
    measure: Annotated[
        list[str] | None,
        measure_option(
            "--measure",
            "Only these, such as ndcg,recall or ndcg@20,0.5,map@avg; by default all of the preset; in pools "
            "recall,axiou,ndcg.",
        ),
    ] = None,
    option: Option = None,
    nms: Nms = None,
    outside_pool: Outside = OutsidePool.ERROR,
    one_per_video: OnePerVideo = False,
    top_videos: TopVideos = None,
    first_step: FirstStep = None,
    own_video: OwnVideo = False,
    chart: Charts = None,
    intervals: Annotated[bool, typer.Option("--intervals", help="95 % intervals of the means.")] = False,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="RUN", help="Compare the other runs with this one.")
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", metavar="N", help="Of bootstrap and sign flips.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of bootstrap and sign flips.")] = 0,
    by: Annotated[list[By] | None, typer.Option("--by", help="Means of groups of queries; may be repeated.")] = None,
    errors: Annotated[bool, typer.Option("--errors", help="What became of each relevant moment.")] = False,
    percent: Percent = False,
    digits: Digits = None,
    caption: Caption = None,
    label: Label = None,
    everything: Annotated[bool, typer.Option("--all", help="Print all measures and what they stand for.")] = False,
    format_: Annotated[Format, typer.Option("--format", help="How the scores are written.")] = Format.TABLE,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE|-", help="Where they go; - is the screen.")] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE|-", help="Write JSON to a file, or only JSON to - .")
    ] = None,
    per_query: Annotated[
        Path | None, typer.Option("--per-query", metavar="FILE.csv", help="Every query's values of every run.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="One page with charts and cases, to open.")
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="A project with the videos: frames in the report.")
    ] = None,
    jobs: ScoringJobs = None,
    cluster: Cluster = None,
) -> None:
    """Score runs against a truth or in pools, and compare them.

    Example: reelrank evaluate --truth val.json --run mine.json --videos video_corpus.json --report scores.html
    """
    from backend.scoring.scored_files import file_inputs, score_splits
    from backend.scoring.statistics.sureness import Sureness, add_statistics
    from backend.scoring.tables import SCORE_FORMATS, per_query_csv
    from backend.scoring.views.splits import joined as joined_scores

    given = run_list(run, runs, split, truth)
    given = replace(given, runs=tuple(replace(one, path=whole(one.path, cluster)) for one in given.runs))
    scoring = where(jobs, cluster, usual=1)
    if not given.truths and pool is None:
        raise typer.BadParameter("give --truth FILE, or --pool FILE, whose moments are a truth", param_hint="--truth")
    charts = read_charts(chart or [], in_pools=pool is not None)
    own_video = own_video or any(name is ChartName.OWN_VIDEO for name, _ in charts)
    pools = pool_file(pool, outside_pool, one_per_video, top_videos, first_step, own_video)
    if project is not None and report is None:
        raise typer.BadParameter(
            "the videos are for pictures in a report; add --report FILE.html", param_hint="--project"
        )
    json_alone, to_file = json is not None and str(json) == "-", out is not None and str(out) != "-"
    form = Format.JSON if json_alone and not to_file else format_
    shown = writing(
        form.value,
        percent,
        digits,
        caption,
        label,
        variant=given.variant_title,
        intervals=intervals,
        benchmark=benchmark,
    )
    require_one_split(
        given, {"--report": report, "--per-query": per_query, "--chart": charts[0][1] if charts else None}
    )
    for place in (report, per_query, json, out, *(file for _, file in charts)):
        _require_place(place)
    film = None
    if project is not None:
        from backend.campaign.release.board.leaderboard import report_frames

        film = report_frames(open_project(project), OPERATOR)
    options: dict[str, Any] = dict(read_option(text) for text in option or ())
    options |= {} if nms is None else {"nms": nms}
    with progress_bar() as progress:
        boards = score_splits(
            given,
            videos=videos or given.videos,
            preset=preset.value,
            k=k,
            mu=mu,
            theta=theta,
            min_relevance=min_relevance,
            measures=measure,
            pool=pools,
            benchmark=benchmark,
            where=scoring,
            progress=progress,
            **options,
        )
        asked = Sureness(baseline and nfc(baseline), resamples, seed)
        summaries = {}
        for name, board in boards.items():
            summaries[name] = board.summary([part.value for part in by or ()], errors=errors)
            if intervals or baseline is not None:
                add_statistics(summaries[name], board, asked, progress=progress)
        summary, board = joined_scores(summaries), boards[given.splits[0]]
        # Before the report, which takes longer: a chart of nothing is refused.
        for chart_name, file in charts:
            from backend.scoring.report.figures import write_figure

            write_figure(chart_name.value, summary, file)
        if report is not None:
            from backend.scoring.report.page import report_page

            made = datetime.fromtimestamp(now(), UTC)
            page = report_page(
                board,
                file_inputs(
                    given.truths.get(given.splits[0]), [one.path for one in given.runs], videos or given.videos, pools
                ),
                made=made,
                asked=asked if baseline else None,
                film=film,
                progress=progress,
            )
            save(report, page)
    if per_query is not None:
        save(per_query, per_query_csv(summary, list(board.per_query())))
    encoded = msgspec.json.format(msgspec.json.encode(summary, enc_hook=as_text), indent=2).decode() + "\n"
    if json_alone:
        machine_output().write(encoded)
    elif json is not None:
        save(json, encoded)
    if form is Format.TABLE:
        with printed_to(out if to_file else None):
            print_scores(summary, shown, boards, everything=everything, asked=measure is not None)
    elif to_file or not json_alone:
        text = encoded if form is Format.JSON else SCORE_FORMATS[form.value](summary, shown)
        with printed_to(out if to_file else None, as_it_is=True):
            machine_output().write(text.removesuffix("\n") + "\n")
    written = [*(file for _, file in charts), report, per_query, json, out]
    tell_written(written, data=json_alone or not (to_file or form is Format.TABLE))


def _require_place(path: Path | None) -> None:
    """Refuse before minutes of scoring what could not be written after them."""
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        fail(f"{path} cannot be written: it is a folder; name a file")
    if not path.parent.is_dir():
        fail(f"{path} cannot be written: there is no folder {path.parent}; make it first")
