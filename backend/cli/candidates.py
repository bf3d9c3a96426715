"""Commands for candidates and batches: `reelrank candidates` and `reelrank batches`."""

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.batches.model import RuleWord, Suggestions
from backend.campaign.selection.candidates.model import PoolingReport
from backend.campaign.setup.project.setting_entries import MOST_CANDIDATES
from backend.cli.commands import add_command, add_group
from backend.cli.options import (
    Cluster,
    Dir,
    EncoderOption,
    EncodingJobs,
    Json,
    KindOption,
    argument,
    option,
    where,
    whole,
)
from backend.cli.output import counted, end_with_json, fail, now, progress_bar, say, say_each, seconds, table
from backend.cli.pipeline import say_next

if TYPE_CHECKING:
    from backend.campaign.selection.candidates.model import CandidateReport


@add_command("candidates")
def candidates(
    folder: Dir,
    batch_size: Annotated[
        int | None,
        option(f"--batch-size 1..{MOST_CANDIDATES}", "Candidates per batch. Default: 20.", min=1, max=MOST_CANDIDATES),
    ] = None,
    probe: Annotated[
        int,
        option(
            "--probe N", "For N queries, also judge the top 60 and 60 other moments, to see how deep to judge.", min=0
        ),
    ] = 0,
    seed: Annotated[int, option("--seed S", "Seed of the draw for --probe.")] = 0,
    pool: Annotated[
        list[str] | None,
        option(
            "--pool [NAME=]FILE ...",
            "Also take the best predictions of runs, in any format that `evaluate` reads.",
        ),
    ] = None,
    depth: Annotated[int, option("--depth N", "Number of predictions to take per query and run.", min=1)] = 20,
    iou: Annotated[float, option("--iou X", "IoU from which two spans are the same candidate.")] = 0.7,
    videos: Annotated[
        Path | None, option("--videos FILE", "For runs with video indices: a JSON map name -> [duration, index].")
    ] = None,
    captions: Annotated[
        bool, option("--captions/--no-captions", "With --pool or --visual: also search the captions.")
    ] = True,
    visual: Annotated[
        str | None,
        option(
            "--visual NAME|FOLDER",
            "Also search the frames of every moment, with this CLIP model: "
            "sentence-transformers/clip-ViT-B-32, or a model folder.",
        ),
    ] = None,
    again: Annotated[
        bool, option("--again", "Add the predictions of these runs to existing lists, and hand out new pairs.")
    ] = False,
    dry_run: Annotated[bool, option("--dry-run", "Only show what pooling would do; write nothing.")] = False,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    dtype: Annotated[
        str | None,
        option(
            "--dtype fp32|bf16",
            "Precision of the encoder. bf16 is faster on many processors, and counts as another encoder.",
        ),
    ] = None,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Find candidate moments for each query, and open batch 1.

    Opening a batch hands its candidates out to annotators. Batch 1 holds the best-ranked candidates of each query.

    Candidates are the moments whose captions are most similar to the query. --pool adds the predictions of runs, and
    --visual adds moments by their frames.

    Example: reelrank candidates my-project --batch-size 20 --encoder minilm

    Example: reelrank candidates my-project --pool ours.json theirs.json --depth 20

    Example: reelrank candidates my-project --visual sentence-transformers/clip-ViT-B-32 --no-captions
    """
    from backend.campaign.selection.candidates.choosing import choose_candidates, choose_encoder
    from backend.campaign.selection.candidates.pooling import pool_candidates
    from backend.campaign.selection.candidates.submitted_runs import CandidatePooling as PoolingOptions

    start = time.monotonic()
    project = open_project(whole(folder, cluster))
    encoding = where(jobs, cluster, usual=1)
    pooling = pool is not None or visual is not None
    if pool is None and again:
        fail("--again needs --pool: name the runs to add")
    if not pooling and (dry_run or not captions):
        fail("--dry-run and --no-captions need --pool or --visual: name runs, or a CLIP model")
    if again and visual is not None:
        fail("--again adds runs only: leave --visual out")
    if pooling and probe:
        fail("--probe works only without --pool and --visual: leave it out")
    if again and batch_size is not None:
        fail("the batch size cannot change once there are candidate lists: leave --batch-size out")
    if (encoder or dtype) and not (again or dry_run):
        project = choose_encoder(project, OPERATOR, encoder, kind, dtype=dtype)
    if pooling:
        options = PoolingOptions(depth, iou, videos)
        with progress_bar() as progress:
            pooled = pool_candidates(
                project,
                OPERATOR,
                pool or [],
                options,
                captions=captions,
                visual=visual,
                again=again,
                batch_size=batch_size,
                dry_run=dry_run,
                where=encoding,
                now=now(),
                progress=progress,
            )
        _say_pooled(pooled, again=again, dry_run=dry_run, took=seconds(start))
        if not dry_run:
            say_next(project)
        return
    with progress_bar() as progress:
        report = choose_candidates(
            project,
            OPERATOR,
            batch_size=batch_size,
            probe=probe,
            seed=seed,
            where=encoding,
            now=now(),
            progress=progress,
        )
    say(
        f"{counted(report.queries, 'query', 'queries')}, {counted(report.candidates, 'candidate')}, "
        f"{counted(report.pairs, 'pair')} open for judging ({seconds(start)})."
    )
    if report.probed:
        say(
            f"{report.probed:,} of the queries have a probe, with {counted(report.probe_pairs, 'more pair')} to judge "
            f"that no release includes. Once they are judged, run: reelrank batches depth {folder} OUT"
        )
    say(f"Encoder: {report.encoder}")
    _say_notes(report)
    say_next(project)


def _say_pooled(report: PoolingReport, *, again: bool, dry_run: bool, took: str) -> None:
    if report.runs:
        table(
            ("run", "predictions", "candidates", "from this run alone", "not handed out before"),
            [(run.name, run.spans, run.candidates, run.alone, run.new) for run in report.runs],
        )
    noun = "new candidate" if again else "candidate"
    say(
        f"{counted(report.queries, 'query', 'queries')}, {counted(report.candidates, noun)} ({report.moments:,} of "
        f"them new moments); {counted(report.pairs, 'pair')} {'would be ' if dry_run else ''}open for judging ({took})."
    )
    if report.encoder:
        say(f"Encoder: {report.encoder}")
    if report.visual:
        say(f"Frames: {report.visual}")
    say_each("Note: frames not searched: {}", report.unseen)
    if report.without and not again:
        say(f"Note: {counted(report.without, 'query', 'queries')} without candidates will not be judged.")
    _say_notes(report)
    if dry_run:
        say("Nothing was written.")


def _say_notes(report: "CandidateReport | PoolingReport") -> None:
    say_each("Warning: {}", report.unread)
    if report.without_file:
        say(
            f"Note: no file yet for {counted(report.without_file, 'video')}. Import again with --videos before judging."
        )
    if report.split_ties:
        ties = counted(report.split_ties, "query", "queries")
        say(f"Note: in {ties}, the list ends within moments of the same text, so some of them are left out.")


def show(
    folder: Dir,
    each: Annotated[bool, option("--list", "Print a row for each query that waits for a decision.")] = False,
    json: Json = False,
) -> None:
    """Show for how many queries the batch rule recommends a next batch.

    A batch is a set of a query's candidates that annotators grade. Once all open batches of a query are graded, the
    rule recommends to open the next one or to leave it. `reelrank batches rule` shows the rule.

    Example: reelrank batches show my-project, or for short: reelrank batches my-project
    """
    from backend.campaign.selection.batches.suggestions import batch_shares, batch_suggestions

    project = open_project(folder)
    batches, shares = batch_suggestions(project, OPERATOR), batch_shares(project, OPERATOR)
    if json:
        end_with_json(_document(batches) | {"queries_by_batches": shares})
    say(f"The rule, version {batches.rule.version}: a next batch is worth opening if {batches.rule.rule.words}.\n")
    rows: list[tuple[object, ...]] = [
        (word.value, len(said), sum(row.pairs for row in said)) for word in RuleWord for said in [batches.saying(word)]
    ]
    rows += [("declined by a lead", batches.declined, ""), ("not settled yet", batches.unsettled, "")]
    table(("the rule says", "queries", "pairs"), rows)
    if each:
        say("")
        for row in batches.queries:
            say(f"query {row.query_id} ({row.split.value}), batch {row.number}: {row.reading.words}; {row.query}")
    if batches.saying(RuleWord.OPEN):
        say(f"\nNext: reelrank batches accept {folder}")


def accept(
    folder: Dir,
    decline: Annotated[bool, option("--decline", "Also decline the batches that the rule does not recommend.")] = False,
) -> None:
    """Open the next batch of every query for which the rule recommends it.

    A batch is a set of a query's candidates that annotators grade. `reelrank batches rule` shows the rule. Annotators
    can grade while this runs. If you stop the command, run it again to open the remaining batches.

    Example: reelrank batches accept my-project
    """
    from backend.campaign.selection.batches.suggestions import accept_suggestions, batch_suggestions

    start = time.monotonic()
    project = open_project(folder)
    batches = batch_suggestions(project, OPERATOR)
    with progress_bar() as progress:
        done = accept_suggestions(project, OPERATOR, batches, decline=decline, now=now(), progress=progress)
    opened = counted(done.opened, "batch", "batches")
    say(f"Opened {opened} with {counted(done.pairs, 'pair')} for the annotators ({seconds(start)}).")
    if decline:
        say(f"Declined {counted(done.declined, 'batch', 'batches')}. Leads can undo that on the page Queries.")
    if done.overtaken:
        overtaken = counted(done.overtaken, "batch", "batches")
        say(f"Skipped {overtaken}, on which somebody else decided in the meantime.")


def rule(
    folder: Dir,
    mean: Annotated[
        float | None, option("--mean", "Lowest mean relevance of the last candidates; 0 turns this condition off.")
    ] = None,
    finds: Annotated[
        int | None, option("--finds", "How many of them need at least --grade; 0 turns this condition off.", min=0)
    ] = None,
    grade: Annotated[int | None, option("--grade", "Lowest relevance that counts for --finds.", min=1)] = None,
    last: Annotated[
        int | None, option("--last", "How many of the lowest-ranked open candidates the rule looks at.", min=1, max=40)
    ] = None,
    reason: Annotated[str, option("--reason", "Why the rule changes; a sentence.")] = "",
) -> None:
    """Show or change the rule that recommends next batches.

    A batch is a set of a query's candidates that annotators grade. The rule looks at the lowest-ranked candidates of a
    query that annotators have graded. It recommends another batch if their mean relevance is high enough (--mean), or
    if enough of them have a high relevance (--finds, --grade). All versions of the rule are listed. Options that you
    leave out keep their value.

    Example: reelrank batches rule my-project --mean 2.5 --reason "too many second batches found nothing"
    """
    from backend.campaign.selection.batches.suggestions import batch_rule_versions, set_batch_rule

    project = open_project(folder)
    current = batch_rule_versions(project, OPERATOR)[-1].rule
    edited = current
    if mean is not None:
        edited = replace(edited, mean=mean or None)
    if finds is not None:
        edited = replace(edited, finds=finds or None)
    edited = replace(edited, grade=edited.grade if grade is None else grade, last=edited.last if last is None else last)
    if edited != current or reason:
        set_batch_rule(project, OPERATOR, edited, reason, now=now())
    for entry in batch_rule_versions(project, OPERATOR):
        who = f" (set by {entry.by or 'the command line'}: {entry.reason})" if entry.since is not None else ""
        say(f"{entry.version}  {entry.rule.words}{who}")


def depth(folder: Dir, out: Annotated[Path, argument("OUT", "Folder for the files.")]) -> None:
    """Plot how relevance falls with rank and with similarity.

    The plot helps to decide how many candidates of each query to judge. It shows the pairs that `reelrank candidates
    --probe N` chose, and the mean relevance in each range of ranks and of similarities.

    Example: reelrank batches depth my-project probe
    """
    from backend.campaign.review.queries import write_probe_figures

    report = write_probe_figures(open_project(folder), OPERATOR, out)
    probed = counted(report.queries, "probed query", "probed queries")
    say(f"{report.settled:,} of {report.pairs:,} pairs of {probed} have a relevance.")
    table(("rank", "pairs", "mean relevance"), [(part.name, part.pairs, f"{part.mean:.2f}") for part in report.by_rank])
    say(f"Written: {', '.join(map(str, report.files))}")


def _document(suggestions: Suggestions) -> dict[str, Any]:
    return {
        "rule": suggestions.rule,
        "queries": [
            {
                "query_id": suggestion.query_id,
                "query": suggestion.query,
                "split": suggestion.split.value,
                "number": suggestion.number,
                "pairs": suggestion.pairs,
                "word": suggestion.reading.word.value,
                "says": suggestion.reading.words,
            }
            for suggestion in suggestions.queries
        ],
        "declined": suggestions.declined,
        "unsettled": suggestions.unsettled,
    }


add_group(
    "batches",
    "Show and open the next batches worth judging.",
    "my-project",
    {"show": show, "accept": accept, "rule": rule, "depth": depth},
    default="show",
)
