"""The commands `reelrank judge` and `judge report`: ask a model to grade pairs, and measure it against people."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_group
from backend.cli.judge_report import judge_report
from backend.cli.options import Dir, Json, option
from backend.cli.output import counted, end_with_json, fail, minute, now, progress_bar, say, seconds, table

if TYPE_CHECKING:
    from backend.campaign.monitoring.model_judge.model import AskReport, JudgeSummary

SHOWN = 5
"""Number of clips that could not be shown to print."""


def judge(
    folder: Dir,
    model: Annotated[
        str | None, option("--model NAME", "The model. Without one, list the models asked so far.")
    ] = None,
    endpoint: Annotated[
        str | None,
        option("--endpoint URL", "Address of the endpoint; it often ends in /v1.", show_default="OpenAI's own"),
    ] = None,
    settled: Annotated[bool, option("--settled", "Ask only about pairs that have a relevance.")] = False,
    transcripts: Annotated[
        Path | None,
        option("--transcripts FILE.csv", "What is said in the videos: columns video, start, end (seconds), text."),
    ] = None,
    most_pairs: Annotated[
        int | None, option("--most-pairs N", "The most pairs in all, with earlier runs.", min=1)
    ] = None,
    most_cost: Annotated[
        float | None, option("--most-cost C", "The most that all answers may cost, with earlier runs.", min=0)
    ] = None,
    price_in: Annotated[float | None, option("--price-in P", "Price of a million input tokens.", min=0)] = None,
    price_out: Annotated[float | None, option("--price-out P", "Price of a million output tokens.", min=0)] = None,
    again: Annotated[bool, option("--again", "Ask again about pairs that were refused or failed.")] = False,
    parallel: Annotated[int, option("--parallel N", "Parallel requests.", min=1, max=256)] = 8,
    timeout: Annotated[float, option("--timeout S", "Seconds to wait for an answer.", min=0.001)] = 60,
    retries: Annotated[int, option("--retries N", "How often to repeat a failed request.", min=0)] = 6,
    json: Json = False,
) -> None:
    """Ask a model that sees pictures to grade pairs.

    The model gets what annotators get: the query, 8 frames of the clip, and your guideline with its scale. It answers
    with a grade and a reason. Its grades are kept apart: they are never judgements, settle no pair, and no annotator
    sees them. The clips' frames leave this machine for the endpoint. The model's key is read from the environment
    variable OPENAI_API_KEY. Answers are kept as they arrive: you can stop the command, and run it again to continue.

    Example: reelrank judge ask my-project --model qwen2.5-vl --endpoint http://localhost:8000/v1 --settled

    Example: reelrank judge my-project --model gpt-4o-mini --price-in 0.15 --price-out 0.60 --most-cost 5
    """
    from backend.campaign.monitoring.model_judge.asking import Budget, ask_model, list_judges
    from backend.language.chat import ChatModel

    start = time.monotonic()
    if model is None:
        if endpoint or transcripts or most_pairs or most_cost is not None or settled or again:
            raise typer.BadParameter("name the model to ask", param_hint="--model")
        _list(list_judges(open_project(folder), OPERATOR), json=json)
        return
    if (price_in is None) != (price_out is None):
        raise typer.BadParameter("give both prices, or none", param_hint="--price-in and --price-out")
    prices = None if price_in is None or price_out is None else (price_in, price_out)
    if most_cost is not None and prices is None:
        raise typer.BadParameter("needs the prices: give --price-in and --price-out", param_hint="--most-cost")
    project = open_project(folder)
    chat = ChatModel(
        model,
        **({"base_url": endpoint} if endpoint else {}),
        at_once=parallel,
        timeout_s=timeout,
        retries=retries,
    )
    try:
        with progress_bar() as progress:
            report = ask_model(
                project,
                OPERATOR,
                chat,
                budget=Budget(most_pairs, most_cost, prices),
                settled=settled,
                transcripts=transcripts,
                again=again,
                now=now(),
                progress=progress,
            )
    except KeyboardInterrupt:
        fail("stopped; the answers so far are kept: run the same command again to continue")
    if json:
        end_with_json(report)
    _say(report, seconds(start))


def _say(report: "AskReport", took: str) -> None:
    asked = report.graded + report.refused + report.failed
    say(
        f"{counted(asked, 'pair')} asked ({took}): {report.graded:,} graded, {report.refused:,} refused, "
        f"{report.failed:,} failed; {report.earlier:,} answered earlier, {report.left:,} left."
    )
    tokens = f"{report.tokens_in:,} input and {report.tokens_out:,} output tokens"
    line = f"{counted(report.requests, 'request')}, {tokens}"
    if report.cost is not None and report.cost_ever is not None:
        line += f", cost {report.cost:,.4f} at your prices ({report.cost_ever:,.4f} in all)"
    say(f"{line}.")
    say(f"Kept as: {report.judge.model}, prompt {report.judge.prompt_version}.")
    for message in report.unseen[:SHOWN]:
        say(f"Not asked: {message}")
    if len(report.unseen) > SHOWN:
        say(f"... and {len(report.unseen) - SHOWN:,} more clips that cannot be shown.")
    if report.ended_by:
        say(f"Ended by {report.ended_by}: to go on, run the command again with a higher limit.")
    if report.refused or report.failed:
        say("To ask again about refused and failed pairs, add --again.")


def _list(judges: "list[JudgeSummary]", *, json: bool) -> None:
    if json:
        end_with_json(judges)
    if not judges:
        say("No model was asked yet. Name one: --model NAME --endpoint URL")
        return
    rows = [
        (
            *(one.judge.model, one.judge.prompt_version, f"{one.graded:,}", f"{one.refused:,}", f"{one.failed:,}"),
            *(f"{one.tokens_in:,}", f"{one.tokens_out:,}", f"{one.cost:,.4f}", minute(one.last_at)),
        )
        for one in judges
    ]
    columns = ("model", "prompt", "graded", "refused", "failed", "tokens in", "tokens out", "cost", "last asked")
    table(columns, rows, left=[name in ("model", "prompt") for name in columns])


add_group(
    "judge",
    "Ask a model to grade pairs, and compare it with people.",
    "my-project --model qwen2.5-vl --endpoint http://localhost:8000/v1",
    {"ask": judge, "report": judge_report},
    default="ask",
)
