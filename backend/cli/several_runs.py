"""Options of a command that takes many runs, and of how their scores are written."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from backend.scoring.run_files import RunList
    from backend.scoring.views.table import Shown


NamedRuns = Annotated[
    list[str] | None,
    typer.Option("--run", metavar="[NAME=]FILE ...", help="A run, or several; may be repeated.", show_default=False),
]
RunListFile = Annotated[
    Path | None,
    typer.Option("--runs", metavar="FILE.toml", help="A list of runs: model, variant, seed, split, file, and truths."),
]
Split = Annotated[
    str | None, typer.Option("--split", metavar="NAME", help="Only this split of the list of runs, or of a release.")
]
Percent = Annotated[bool, typer.Option("--percent", help="In percent, two digits; not in CSV and JSON.")]
Digits = Annotated[int | None, typer.Option("--digits", metavar="N", min=0, max=12, help="Digits after the point.")]
Caption = Annotated[str | None, typer.Option("--caption", metavar="TEXT", help="Of the LaTeX table, its first words.")]
Label = Annotated[str | None, typer.Option("--label", metavar="NAME", help="Of the LaTeX table, such as tab:runs.")]


class SeveralRuns(TyperCommand):
    """A command whose option --run takes every file up to the next option, as a shell's `runs/*.json` gives them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give each file its own --run."""
        return super().parse_args(ctx, spread(args))


def spread(args: Sequence[str], option: str = "--run") -> list[str]:
    """Each file after an option with an option of its own.

    >>> spread(["--run", "a.json", "b=c.json", "--k", "5"])
    ['--run', 'a.json', '--run', 'b=c.json', '--k', '5']
    """
    found: list[str] = []
    wanted = within = False
    for arg in args:
        if within and not wanted and not arg.startswith("-"):
            found += [option, arg]
            continue
        if not wanted:
            within = arg == option or arg.startswith(f"{option}=")
        wanted = arg == option
        found.append(arg)
    return found


def run_list(run: list[str] | None, runs: Path | None, split: str | None, truth: Path | None) -> "RunList":
    """The runs that were asked for, each split with its truth."""
    from backend.scoring.files.release_folder import choose_truth
    from backend.scoring.run_files import RunList, named_files, of_releases, read_run_list

    if (run is None) == (runs is None):
        raise typer.BadParameter("give runs with --run, or a list of them with --runs", param_hint="--run")
    for text in run or ():
        if text.endswith(".toml"):
            raise typer.BadParameter(f"{text} is a list of runs; give it with --runs", param_hint="--run")
    if runs is None:
        named = tuple(named_files(run or ()))
        if split is not None:
            if truth is None or not truth.is_dir():
                told = "is about a list of runs or a release; add --runs FILE.toml, or give --truth the folder of one"
                raise typer.BadParameter(told, param_hint="--split")
            chosen = choose_truth(truth, split=split)
            return RunList(named, truths={"": chosen.path}, videos=chosen.videos)
        return RunList(named, truths={"": truth} if truth else {})
    found = read_run_list(runs)
    if split is not None:
        if split not in found.splits:
            known = ", ".join(name for name in found.splits if name) or "none"
            raise typer.BadParameter(
                f"{split!r} is not a split of {runs.name}, which has {known}", param_hint="--split"
            )
        found = replace(found, runs=tuple(found.of(split)), splits=(split,))
    if truth is not None:
        if found.truths or (len(found.splits) > 1 and not truth.is_dir()):
            raise typer.BadParameter(f"the truth stands in {runs.name}; leave this out", param_hint="--truth")
        found = of_releases(replace(found, truths=dict.fromkeys(found.splits, truth)))
    return found


def writing(
    form: str,
    percent: bool,
    digits: int | None,
    caption: str | None,
    label: str | None,
    *,
    variant: str,
    intervals: bool,
    benchmark: str | None,
) -> "Shown":
    """How the scores are written; an option that a format would not heed is wrong usage."""
    from backend.scoring.views.table import Shown

    if form in ("csv", "json") and (percent or digits is not None):
        raise typer.BadParameter(
            f"{form.upper()} has shares in full", param_hint="--percent" if percent else "--digits"
        )
    if benchmark is not None and (percent or digits is not None):
        told = f"{benchmark} says itself how its figures are written"
        raise typer.BadParameter(told, param_hint="--percent" if percent else "--digits")
    if form != "latex" and (caption or label):
        raise typer.BadParameter("is of --format latex", param_hint="--caption" if caption else "--label")
    return Shown(percent, digits, caption or "", label or "", variant, intervals)


def require_one_split(given: "RunList", asked: dict[str, Path | None]) -> None:
    """Refuse what is of one truth alone where the list of runs has several."""
    for option, value in asked.items():
        if value is not None and len(given.splits) > 1:
            parts = ", ".join(given.splits)
            raise typer.BadParameter(f"is of one split; add --split with one of {parts}", param_hint=option)
