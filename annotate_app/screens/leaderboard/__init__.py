"""The lead's page "Leaderboard": upload runs (ranked predictions of systems), and score them against a ground truth."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from annotate_app.language import marked, tr, translate_message, trn
from annotate_app.plain import plain
from annotate_app.screens.leaderboard import board as board_view
from annotate_app.shared import address_state, look, results, wording
from backend.campaign.nouns import Person
from backend.campaign.release.board.kept_runs import add_run, add_truth, list_runs, list_truths, remove_run
from backend.campaign.release.board.leaderboard import (
    Leaderboard,
    leaderboard_version,
    score_kept_runs,
    truth_names,
    truth_of_runs,
)
from backend.campaign.release.board.model import Kept
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ReelRankError
from backend.scoring.views.ranking import sentence as score_sentence

_PARTS = (marked("Ranking"), marked("Charts"), marked("Groups"), marked("Errors"), marked("Cases"), marked("Runs"))
_FEW = 3
"""The most notes, and the most runs left out, that the page lists without folding them."""
_PRESETS: Mapping[str, Literal["paper", "tvr-ranking"]] = {marked("Paper"): "paper", "TVR-Ranking": "tvr-ranking"}
_RUN, _TRUTH = marked("Run"), marked("Ground truth")
_MEANINGS = marked(
    "Paper: the formulas of the papers; linear gain, IoU ≥ mu, every query of the truth counts. "
    "TVR-Ranking: its published evaluator; gain 2^rel \u2212 1, IoU > mu, only queries that a run "
    "predicts."
)


def page() -> None:
    """Draw the choice of a ground truth, and the chosen part of the leaderboard, such as the ranking or the charts.

    Without a run or a ground truth, draw the form that uploads them.
    """
    project, lead, _ = look.lead_page("Leaderboard")
    truths, runs = truth_names(project, lead), list_runs(project, lead)
    if not truths:
        st.info(
            tr("No ground truth yet. Finish a validation or test query, or upload a ground truth below."),
            icon=":material/leaderboard:",
        )
    if not runs:
        st.info(tr("No runs yet. Upload one or more below."), icon=":material/upload_file:")
    if not (truths and runs):
        _keeper(project, lead, runs, {})
        return
    usual = _usual_truth(project, lead, str(project.folder), tuple(truths), tuple(run.sha256 for run in runs))
    with st.container(horizontal=True):
        truth = address_state.choice(
            tr("Ground truth"),
            "truth",
            {name: name for name in truths},
            default=usual,
            clears=("case",),
            box=True,
            help=tr("Without a choice, the one with the queries of most runs."),
        )
        presets = {name: tr(name) for name in _PRESETS}
        if address_state.read("preset") == "Official":  # an address from before the preset was renamed
            address_state.go(preset="TVR-Ranking")
        preset = address_state.choice(tr("Preset"), "preset", presets, box=True, help=tr(_MEANINGS))
    try:
        version = leaderboard_version(project, lead, truth)
        with st.spinner(tr("Scoring")):
            board = _scored(project, lead, str(project.folder), truth, _PRESETS[preset], version)
    except ReelRankError as refusal:
        st.error(plain(translate_message(refusal)))
        _keeper(project, lead, runs, {})
        return
    _shown(project, lead, runs, board, f"{project.folder}, {truth}, {preset}, {version}")


def keep() -> None:
    """Check and store the files chosen in the upload form. Leave a message that lists the problems of refused files."""
    results.clear("board_problem")
    kind, bound = st.session_state["board_kind"], bool(st.session_state.get("board_bound"))
    name = st.session_state["board_name"].strip() or None
    files = st.session_state.get("board_file") or []
    if not files or (name and len(files) > 1):
        several = tr("Leave the name empty: with several files, each run is named after its file.")
        st.session_state["board_problem"] = several if files else tr("Choose a file first.")
        return
    uploads: list[Kept] = []
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        map_file = st.session_state.get("board_videos")
        videos = _written(Path(folder) / "videos", map_file) if map_file else None
        for number, file in enumerate(files):
            path = _written(Path(folder) / str(number), file)

            def act(project: Project, lead: Person, path: Path = path) -> None:
                if kind == _RUN:
                    one = add_run(project, lead, path, name=name, videos=videos, upper_bound=bound, now=time.time())
                else:
                    one = add_truth(project, lead, path, name=name, now=time.time())
                uploads.append(one)

            problem = look.as_lead(act)
            for written in (path, videos):
                # The lead knows the names of the uploaded files, not their temporary paths.
                problem = problem.replace(str(written), written.name) if written else problem
            problems += [problem] if problem else []
    st.session_state["board_problem"] = "\n\n".join(problems)
    if uploads:
        look.as_lead(lambda project, lead: _tell_uploaded(project, lead, uploads, runs=kind == _RUN))


def _tell_uploaded(project: Project, lead: Person, uploads: Sequence[Kept], *, runs: bool) -> None:
    """Leave a message that names the uploaded files.

    If they are runs, also switch the page to the ground truth that has their queries.
    """
    names = ", ".join(f"{upload.name} ({wording.count_of(upload.queries, 'query')})" for upload in uploads)
    done = tr("Uploaded {files}.", files=names)
    truth = truth_of_runs(project, lead, [upload.name for upload in uploads]) if runs else None
    if truth:
        done += tr(" Scored against {truth}.", truth=truth)
        address_state.go(truth=truth)
    elif runs:
        done += tr(" No ground truth has any of these queries: upload one too.")
    results.leave("board", done)


@look.lead_callback("board_problem")
def remove(project: Project, lead: Person, name: str) -> None:
    """Remove a run from the project."""
    remove_run(project, lead, name, now=time.time())
    results.leave("board", tr("{name} is removed.", name=name))


@st.cache_resource(max_entries=16, show_spinner=False)
def _scored(
    _project: Project, _lead: Person, folder: str, truth: str, preset: Literal["paper", "tvr-ranking"], version: str
) -> Leaderboard:
    """Return the scores of all runs against a ground truth, cached for all leads.

    The other parameters are the cache key: `folder` of the project, name of the ground truth (`truth`), `preset` (the
    conventions that the measures follow) and `version`. The version changes whenever a run or the ground truth does.
    """
    return score_kept_runs(_project, _lead, truth, preset=preset)


@st.cache_data(max_entries=16, show_spinner=False)
def _usual_truth(_project: Project, _lead: Person, folder: str, truths: Sequence[str], runs: Sequence[str]) -> str:
    """Return the name of the ground truth shown by default: the one that has the queries of most runs.

    It is cached until a ground truth or a run is added or removed.
    """
    return truth_of_runs(_project, _lead) or truths[0]


def _shown(project: Project, lead: Person, runs: Sequence[Kept], board: Leaderboard, version: str) -> None:
    scores = board.scores
    if scores is None:
        _left_out(board.left_out)
        _keeper(project, lead, runs, board.left_out)
        return
    notes = "".join(f"; {plain(translate_message(note))}" for note in scores.setting.notes)
    st.caption(f"{plain(board.truth)}: {plain(translate_message(score_sentence(scores.summary())))}{notes}")
    part = address_state.choice(tr("Part"), "part", {name: tr(name) for name in _PARTS}, label_visibility="collapsed")
    if part != "Runs":
        look.outcome("board")  # after the first upload, the page no longer shows the upload form
    if part == "Charts":
        board_view.charts(scores)
    elif part == "Groups":
        board_view.groups(scores)
    elif part == "Errors":
        board_view.errors(board, scores)
    elif part == "Cases":
        board_view.cases(project, lead, board, scores)
    elif part == "Runs":
        _keeper(project, lead, runs, board.left_out)
    else:
        board_view.ranking(project, lead, board, scores, version, lambda: _left_out(board.left_out))
        _warnings(scores.warnings)


def _warnings(warnings: Sequence[str]) -> None:
    """Draw remarks about runs. If there are many remarks, draw them in a collapsed section."""
    lines = [f":material/info: {plain(translate_message(warning))}" for warning in warnings]
    place = (
        st.container()
        if len(lines) <= _FEW
        else st.expander(trn("{n} note about the runs", "{n} notes about the runs", len(lines)))
    )
    with place:
        for line in lines:
            st.caption(line)


def _left_out(runs: Mapping[str, str]) -> None:
    """Draw the runs that are not compared, each with the reason. All but the first few are in a collapsed section."""
    if not runs:
        return
    head = trn("{n} run is not compared", "{n} runs are not compared", len(runs))
    lines = [tr("**{name}**: {why}", name=plain(name), why=plain(translate_message(why))) for name, why in runs.items()]
    st.markdown(f":material/block: {head}: " + lines[0] if len(lines) == 1 else f":material/block: {head}:")
    if len(lines) > 1:
        st.markdown("\n".join(f"- {line}" for line in lines[:_FEW]))
    if lines[_FEW:]:
        with st.expander(trn("{n} more", "{n} more", len(lines) - _FEW)):
            st.markdown("\n".join(f"- {line}" for line in lines[_FEW:]))


def _keeper(project: Project, lead: Person, runs: Sequence[Kept], left_out: Mapping[str, str]) -> None:
    """Draw the form that uploads files, and the runs stored in the project.

    `left_out` has the reason for each run that is not compared, by the run's name; the list marks these runs.
    """
    with st.form("board_form", clear_on_submit=True):
        st.markdown(tr("**Upload files** · Each is checked first. A message lists every problem with its row."))
        st.segmented_control(tr("Type"), [_RUN, _TRUTH], default=_RUN, required=True, key="board_kind", format_func=tr)
        st.file_uploader(
            tr("Files"),
            key="board_file",
            accept_multiple_files=True,
            max_upload_size=200,
            help=tr("JSON, JSON Lines or CSV; may be gzipped. Select several to upload them together."),
        )
        st.file_uploader(
            tr("Video map, for runs that give videos by number"),
            key="board_videos",
            max_upload_size=50,
            help=tr("name -> [duration, index]"),
        )
        st.text_input(tr("Name"), key="board_name", placeholder=tr("the name of the file"))
        st.checkbox(
            tr("Upper bound"),
            key="board_bound",
            help=tr(
                "The run knows what no competing system can know, such as the captions. It is marked and never ranked."
            ),
        )
        st.form_submit_button(tr("Upload"), type="primary", on_click=keep)
    look.outcome("board")
    for number, run in enumerate(runs):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept-{number}"):
            note = tr(" · upper bound") if run.upper_bound else ""
            note += tr(" · **not compared**") if run.name in left_out else ""
            who = tr(" by {added_by}", added_by=plain(run.added_by)) if run.added_by else ""
            when = wording.when(run.added_at, st.context.timezone)
            held = f"{wording.count_of(run.queries, 'query')}, {wording.count_of(run.moments, 'prediction')}"
            facts = tr("{file} · {held} · uploaded {when}{who}", file=plain(run.file), held=held, when=when, who=who)
            st.markdown(f"**{plain(run.name)}**{note}  \n{facts}", width="stretch")
            st.button(tr("Remove"), key=f"remove-{number}", on_click=remove, args=(run.name,))
    kept = list_truths(project, lead)
    if kept:
        st.caption(tr("Uploaded ground truths: ") + ", ".join(plain(truth.name) for truth in kept))


def _written(folder: Path, upload: Any) -> Path:
    """Write an uploaded file into a new folder, under the name it had on the lead's computer, and return its path."""
    folder.mkdir()
    path = folder / (Path(str(upload.name)).name or "file")
    path.write_bytes(upload.getvalue())
    return path
