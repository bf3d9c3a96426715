"""Commands for training: `reelrank guideline`, `tutorial`, `trial` (calibration rounds) and `gold`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.model import Grading
from backend.cli.commands import add_group
from backend.cli.options import Dir, Json, argument, option
from backend.cli.output import counted, end_with_json, fail, minute, now, save, say, say_each, table
from backend.core.ids import QueryId

if TYPE_CHECKING:
    from backend.campaign.qualification.gold import questions


def show(folder: Dir, json: Json = False) -> None:
    """Print the guideline and its versions.

    Example: reelrank guideline show my-project, or for short: reelrank guideline my-project
    """
    from backend.campaign.qualification.guideline.rules import changes as guideline_changes
    from backend.campaign.qualification.guideline.versions import guideline_readers, guideline_versions

    project = open_project(folder)
    versions, readers = guideline_versions(project, OPERATOR), guideline_readers(project, OPERATOR)
    if json:
        end_with_json({"versions": versions, "readers": readers})
    _say_guideline(versions[-1].grading)
    say("\nVersions:")
    for before, version in zip([None, *versions], versions, strict=False):
        since = "from the beginning" if version.since is None else f"since {minute(version.since)}"
        by = f" by {version.by}" if version.by else "" if version.since is None else " by the command line"
        say(f"  {version.version}  {since}{by}{f': {version.reason}' if version.reason else ''}")
        for change in guideline_changes(before.grading, version.grading) if before else ():
            say(f"     {change.where}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}")


def set_guideline(
    folder: Dir,
    file: Annotated[Path, argument("FILE", "A TOML file, as for `init --scale`.")],
    reason: Annotated[
        str | None, option("--reason", "Why it changes; annotators read this sentence.", show_default="the file's name")
    ] = None,
) -> None:
    """Replace the guideline by a file.

    Once somebody has graded, only its words may change. Annotators see what changed before their next clip.

    Example: reelrank guideline set my-project guideline.toml --reason "Grade 3 was too wide"
    """
    from backend.campaign.qualification.guideline.versions import set_guideline_from_file

    project = open_project(folder)
    number, changed = set_guideline_from_file(project, OPERATOR, file, reason or f"from {file.name}", now=now())
    say(f"Version {number} saved; {len(changed)} text{'s' if len(changed) != 1 else ''} changed:")
    for change in changed:
        say(f"  {change.where}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}")


def _say_guideline(grading: Grading) -> None:
    for n, question in enumerate(grading.questions, start=1):
        say(f"{n}. {question.title} {question.text}")
    for meaning in reversed(grading.scale.meanings):
        say(f"{meaning.grade}  {meaning.label}: {meaning.meaning}. {meaning.detail}")
        if meaning.example:
            say(f"   e.g. {meaning.example}")
    if any(meaning.example for meaning in grading.scale.meanings):
        say(f"The examples are for the query: {grading.example_query}")
    say_each("- {}", grading.reminders)
    for language, texts in grading.translations.items():
        say(f"Also in {language}: {len(texts)} of {len(set(filter(None, grading.texts)))} texts")


def set_practice(
    folder: Dir,
    file: Annotated[
        Path, argument("FILE.csv", "One moment of the project per row: query,video,start,end,grade,explanation.")
    ],
) -> None:
    """Replace the practice pairs of the tutorial by those of a file.

    New annotators grade practice pairs in the order of the file, and learn the right grades. A pair that still needs
    grades cannot be a practice pair.

    Example: reelrank tutorial set my-project practice.csv
    """
    from backend.campaign.qualification.guideline.practice_pairs import set_practice_from_file

    count = set_practice_from_file(open_project(folder), OPERATOR, file, now=now())
    say(f"New annotators practise on {counted(count, 'pair')} from now on.")


def tutorial_status(folder: Dir, json: Json = False) -> None:
    """Show if the tutorial is on, and how practice pairs are answered.

    The table has a row for each practice pair: how many annotators answered it, and how many of them missed its grade.

    Example: reelrank tutorial status my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import practice_figures

    project = open_project(folder)
    pairs = practice_figures(project, OPERATOR, now=now())
    if json:
        end_with_json({"on": project.campaign.tutorial, "practice": pairs})
    say(
        f"New annotators {'see the tutorial' if project.campaign.tutorial else 'start at once: the tutorial is off'}.\n"
    )
    rows = [(pair.grade, pair.query, pair.video, pair.people, pair.missed, pair.hidden or "yes") for pair in pairs]
    table(("grade", "query", "video", "answered", "missed", "shown"), rows)


def switch_on(folder: Dir) -> None:
    """Show new annotators the guideline and practice before work.

    Example: reelrank tutorial on my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import switch_tutorial

    switch_tutorial(open_project(folder), OPERATOR, True, now=now())
    say("New annotators see the tutorial from now on.")


def switch_off(folder: Dir) -> None:
    """Let new annotators start without the tutorial.

    Annotators who have read an earlier guideline still see what changed.

    Example: reelrank tutorial off my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import switch_tutorial

    switch_tutorial(open_project(folder), OPERATOR, False, now=now())
    say("New annotators start at once. The key G opens the guideline.")


def start_round(
    folder: Dir,
    queries: Annotated[int, option("--queries", "Number of queries to draw.", min=1)] = 3,
    pairs: Annotated[int, option("--pairs", "Number of pairs per query: its top candidates.", min=1)] = 5,
    seed: Annotated[int, option("--seed", "Seed of the draw.")] = 1,
    chosen: Annotated[
        list[int] | None, option("--query ID", "Use this query instead of a draw; may be repeated.")
    ] = None,
) -> None:
    """Start a calibration round: all grade the same few pairs.

    Annotators grade without seeing each other's grades, before exam and work. These grades never count. The pairs
    are reserved until the round ends; then they go to annotators who did not grade them.

    Example: reelrank trial start my-project --queries 3 --pairs 5
    """
    from backend.campaign.qualification.exam.setting import start_trial

    ids = [QueryId(query_id) for query_id in chosen or ()]
    project = open_project(folder)
    report = start_trial(project, OPERATOR, queries=queries, pairs=pairs, seed=seed, chosen=ids, now=now())
    drawn = "chosen" if chosen else f"seed {seed}"
    size = f"{counted(report.items, 'pair')} of {counted(report.queries, 'query', 'queries')}"
    say(f"Started a calibration round of {size}, {drawn}.")
    if report.short:
        say(f"Note: {report.short}")


def trial_status(folder: Dir, json: Json = False) -> None:
    """Show each annotator's progress, and where grades differ most.

    Example: reelrank trial status my-project
    """
    from backend.campaign.qualification.exam.setting import trial_round

    trial = trial_round(open_project(folder), OPERATOR)
    if json:
        end_with_json(trial)
    if trial is None:
        say("This project has had no calibration round.")
        return
    state = "open" if trial.ended_at is None else "ended"
    say(f"Calibration round of {counted(len(trial.pairs), 'pair')}, {state}.\n")
    people = [(person.name, person.answered, "yes" if person.finished else "") for person in trial.people]
    table(("annotator", "answered", "finished"), people)
    say("")
    rows = [
        (pair.spread, " ".join(str(answer.grade) for answer in pair.answers), pair.notes, pair.rank, pair.query)
        for pair in trial.pairs
    ]
    table(("spread", "grades", "notes", "rank", "query"), rows)


def end_round(folder: Dir) -> None:
    """End the calibration round.

    Its answers can still be read. Its pairs go back into the queue.

    Example: reelrank trial end my-project
    """
    from backend.campaign.qualification.exam.setting import end_trial

    ended = end_trial(open_project(folder), OPERATOR, now=now())
    say("The calibration round has ended." if ended else "Nothing to do: no calibration round is open.")


def export_answers(
    folder: Dir,
    file: Annotated[Path, argument("FILE.csv", "The file to write.")],
    names: Annotated[bool, option("--names/--no-names", "Write names, or numbers instead.")] = True,
) -> None:
    """Write all answers of the calibration round with their notes.

    They are for a discussion, and never part of a release.

    Example: reelrank trial export my-project trial.csv --no-names
    """
    from backend.campaign.qualification.exam.setting import trial_csv, trial_round

    project = open_project(folder)
    trial = trial_round(project, OPERATOR)
    if trial is None:
        fail("this project has had no calibration round: start one with `reelrank trial start`")
    save(file, trial_csv(project, OPERATOR, names=names))
    say(f"Written: {file}, {counted(sum(len(pair.answers) for pair in trial.pairs), 'answer')}.")


add_group(
    "guideline",
    "Show or change the grading guideline.",
    "my-project",
    {"show": show, "set": set_guideline},
    default="show",
)


add_group(
    "tutorial",
    "Set what annotators practise before their first clip.",
    "set my-project practice.csv",
    {"set": set_practice, "status": tutorial_status, "on": switch_on, "off": switch_off},
)


add_group(
    "trial",
    "Run a calibration round: all grade the same few pairs.",
    "start my-project --queries 3 --pairs 5",
    {"start": start_round, "status": trial_status, "end": end_round, "export": export_answers},
)


def set_gold(
    folder: Dir,
    key: Annotated[
        Path | None, option("--from KEY.csv", "Use the pairs of this file instead of a draw: pair_id,grade.")
    ] = None,
    pairs: Annotated[int, option("--pairs", "Highest number of settled pairs to draw.", min=1)] = 500,
    share: Annotated[
        float | None, option("--share", "Share of gold questions in everybody's pairs.", show_default="0.05")
    ] = None,
    window: Annotated[
        int | None,
        option("--window", "Number of last answers that accuracy is computed from.", min=1, show_default="20"),
    ] = None,
    fewest: Annotated[
        int | None,
        option("--fewest", "Number of answers before anybody is warned or paused.", min=1, show_default="10"),
    ] = None,
    warn: Annotated[
        float | None,
        option("--warn", "Warn annotators below this accuracy, in percent.", min=0, max=100, show_default="70"),
    ] = None,
    pause: Annotated[
        float | None,
        option("--pause", "Pause annotators below this accuracy, in percent.", min=0, max=100, show_default="50"),
    ] = None,
) -> None:
    """Mix hidden gold questions into everybody's work.

    Gold questions are pairs with a known grade. Annotators cannot tell them apart from other pairs, and their answers
    are never exported as work. Without --from, they are drawn from settled pairs that a lead adjudicated or that
    annotators graded alike. Below the --warn level, an annotator is warned. Annotators are paused if they are below the
    --pause level, or below the --warn level again after a warning. A lead ends the pause on the page People.

    Example: reelrank gold set my-project --share 0.05
    """
    from backend.campaign.qualification.answers.key_file import KeyFile
    from backend.campaign.qualification.gold import questions

    options = questions.GoldOptions(share, window, fewest, warn, pause)
    file = KeyFile.at(key) if key else None
    report = questions.set_gold(open_project(folder), OPERATOR, options, file, pairs=pairs, now=now())
    _say_gold(report)


def gold_status(folder: Dir, json: Json = False) -> None:
    """Show where gold questions come from, and everybody's accuracy.

    Example: reelrank gold status my-project
    """
    from backend.campaign.qualification.gold import questions

    report, people = questions.gold_results(open_project(folder), OPERATOR)
    if json:
        end_with_json({"gold": report, "people": people})
    if report.settings.on:
        _say_gold(report)
    else:
        say("Gold questions are off.")
    say("")
    table(
        ("annotator", "answers", "right", "of the last", "%", "state", "not met yet"),
        [_gold_row(person) for person in people],
    )


def switch_gold_off(folder: Dir) -> None:
    """Stop mixing gold questions into the work.

    Answers stay in the record, and pauses stay in force.

    Example: reelrank gold off my-project
    """
    from backend.campaign.qualification.gold import questions

    ended = questions.end_gold(open_project(folder), OPERATOR, now=now())
    say("Gold questions are off now." if ended else "Nothing to do: gold questions are off.")


def _say_gold(report: "questions.GoldReport") -> None:
    settings = report.settings
    say(f"Gold questions: {settings.share:.1%} of everybody's pairs, from {counted(report.pairs, 'known pair')}.")
    say("Right grades: " + ", ".join(f"{grade}: {count}" for grade, count in enumerate(report.grades)))
    say(
        f"Accuracy of the last {settings.window} answers, once there are {settings.fewest}: a warning below "
        f"{settings.warn:g} %, a pause below {settings.pause:g} %."
    )
    if report.constant_right >= settings.warn:
        say(
            f"Note: always giving {report.constant} is right for {report.constant_right:.0f} % of them, which is not "
            f"below {settings.warn:g} %. Raise --warn, or use pairs of more grades."
        )


def _gold_row(row: "questions.GoldPerson") -> tuple[object, ...]:
    share = "" if row.accuracy is None else f"{row.accuracy:.0f}"
    state = "paused" if row.pause else (row.findings[0].kind.value if row.findings else "")
    return (row.person.name, len(row.answers), row.within, row.counted, share, state, row.left)


add_group(
    "gold",
    "Mix hidden gold questions into the annotators' work.",
    "set my-project --share 0.05",
    {"set": set_gold, "status": gold_status, "off": switch_gold_off},
)
