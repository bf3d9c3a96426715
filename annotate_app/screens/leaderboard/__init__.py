"""The lead's page "Leaderboard": runs kept in the project, scored against a ground truth, compared and explained."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.screens.leaderboard import board as board_view
from annotate_app.shared import address_state, look, wording
from backend.campaign.nouns import Person
from backend.campaign.release.board.kept_runs import add_run, add_truth, list_runs, list_truths, remove_run
from backend.campaign.release.board.leaderboard import Leaderboard, leaderboard_version, score_kept_runs, truth_names
from backend.campaign.release.board.model import Kept
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ReelRankError
from backend.scoring.views.ranking import sentence as score_sentence

_PARTS = (marked("Ranking"), marked("Charts"), marked("Groups"), marked("Errors"), marked("Cases"), marked("Runs"))
_FEW = 3
"""Remarks that stand in the open."""
_PRESETS: Mapping[str, Literal["paper", "tvr-ranking"]] = {marked("Paper"): "paper", "TVR-Ranking": "tvr-ranking"}
_RUN, _TRUTH = marked("Run"), marked("Ground truth")
_MEANINGS = marked(
    "Paper: the formulas of the papers; linear gain, IoU ≥ mu, every query of the truth counts. "
    "TVR-Ranking: its published evaluator; gain 2^rel \u2212 1, IoU > mu, only queries that a run "
    "predicts."
)


def page() -> None:
    """What is compared, then its parts; without anything to compare, how to bring it."""
    project, lead, _ = look.lead_page("Leaderboard")
    truths, runs = truth_names(project, lead), list_runs(project, lead)
    look.refusal("board_problem")
    if not truths:
        st.info(
            tr("Nothing can be scored yet: no validation or test query is finished, and no ground truth is kept."),
            icon=":material/leaderboard:",
        )
    if not runs:
        st.info(tr("No run is kept yet. Add one below; it stays in the project."), icon=":material/upload_file:")
    if not (truths and runs):
        _keeper(project, lead, runs, {})
        return
    with st.container(horizontal=True):
        truth = address_state.choice(
            tr("Ground truth"), "truth", {name: name for name in truths}, clears=("case",), box=True
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
        st.error(plain(retold(refusal)))
        _keeper(project, lead, runs, {})
        return
    _shown(project, lead, runs, board, f"{project.folder}, {truth}, {preset}, {version}")


def keep() -> None:
    """Callback of the form: checks the file and keeps its columns, or leaves a message with every problem."""
    kind = st.session_state["board_kind"]
    name = st.session_state["board_name"].strip() or None
    uploads = {what: st.session_state.get(f"board_{what}") for what in ("file", "videos")}
    if uploads["file"] is None:
        st.session_state["board_problem"] = tr("Choose a file first.")
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = {what: _written(Path(folder) / what, upload) for what, upload in uploads.items() if upload}

        def act(project: Project, lead: Person) -> None:
            if kind == _RUN:
                videos = paths.get("videos")
                kept = add_run(project, lead, paths["file"], name=name, videos=videos, now=time.time())
            else:
                kept = add_truth(project, lead, paths["file"], name=name, now=time.time())
            held = f"{wording.count_of(kept.queries, 'query')}, {wording.count_of(kept.moments, 'moment')}"
            st.toast(tr("Kept {name}: {held}.", name=plain(kept.name), held=held), icon=":material/save:")

        problem = look.as_lead(act)
        for path in paths.values():
            # The lead knows the files by the names they uploaded, not by where they lay for a moment.
            problem = problem.replace(str(path), path.name)
    st.session_state["board_problem"] = problem


@look.lead_callback("board_problem")
def remove(project: Project, lead: Person, name: str) -> None:
    """Callback of a button: the run is kept no longer."""
    remove_run(project, lead, name, now=time.time())


@st.cache_resource(max_entries=16, show_spinner=False)
def _scored(
    _project: Project, _lead: Person, folder: str, truth: str, preset: Literal["paper", "tvr-ranking"], version: str
) -> Leaderboard:
    """Kept until a run, or the truth, changes; everybody who looks shares it."""
    return score_kept_runs(_project, _lead, truth, preset=preset)


def _shown(project: Project, lead: Person, runs: Sequence[Kept], board: Leaderboard, version: str) -> None:
    _left_out(board.left_out)
    scores = board.scores
    if scores is None:
        _keeper(project, lead, runs, board.left_out)
        return
    notes = "".join(f"; {plain(retold(note))}" for note in scores.setting.notes)
    st.caption(f"{plain(board.truth)}: {plain(retold(score_sentence(scores.summary())))}{notes}")
    part = address_state.choice(tr("Part"), "part", {name: tr(name) for name in _PARTS}, label_visibility="collapsed")
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
        board_view.ranking(project, lead, board, scores, version)
        _warnings(scores.warnings)


def _warnings(warnings: Sequence[str]) -> None:
    """What to know of single runs; many of them are folded away."""
    said = [f":material/info: {plain(retold(warning))}" for warning in warnings]
    place = st.container() if len(said) <= _FEW else st.expander(tr("{said} remarks about the runs", said=len(said)))
    with place:
        for line in said:
            st.caption(line)


def _left_out(runs: Mapping[str, str]) -> None:
    """Runs that are not compared, and why: one box however many they are, so that the scores keep their place."""
    said = [
        tr("**{name}** is not compared: {why}", name=plain(name), why=plain(retold(why))) for name, why in runs.items()
    ]
    if len(said) > 1:
        with st.expander(tr("{said} runs are not compared", said=len(said)), icon=":material/block:"):
            st.markdown("\n".join(f"- {line}" for line in said))
    elif said:
        st.warning(said[0], icon=":material/block:")


def _keeper(project: Project, lead: Person, runs: Sequence[Kept], left_out: Mapping[str, str]) -> None:
    """The kept runs with their facts, and the form that keeps another file."""
    for number, run in enumerate(runs):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept-{number}"):
            note = tr(" · **not compared**") if run.name in left_out else ""
            who = tr(" by {added_by}", added_by=plain(run.added_by)) if run.added_by else ""
            when = wording.when(run.added_at, st.context.timezone)
            held = f"{wording.count_of(run.queries, 'query')}, {wording.count_of(run.moments, 'prediction')}"
            facts = tr("{file} · {held} · kept {when}{who}", file=plain(run.file), held=held, when=when, who=who)
            st.markdown(f"**{plain(run.name)}**{note}  \n{facts} · sha256 `{run.sha256[:12]}`", width="stretch")
            st.button(tr("Remove"), key=f"remove-{number}", on_click=remove, args=(run.name,))
    kept = list_truths(project, lead)
    if kept:
        st.caption(tr("Ground truths kept: ") + ", ".join(plain(truth.name) for truth in kept))
    with st.form("board_form", clear_on_submit=True):
        st.markdown(tr("**Keep a file** · it is checked whole, and every problem is told with its row"))
        st.segmented_control(
            tr("What it is"), [_RUN, _TRUTH], default=_RUN, required=True, key="board_kind", format_func=tr
        )
        st.file_uploader(
            tr("File"), key="board_file", max_upload_size=200, help=tr("JSON, JSON Lines or CSV; may be gzipped.")
        )
        st.file_uploader(
            tr("Video map, for runs that number videos"),
            key="board_videos",
            max_upload_size=50,
            help=tr("name -> [duration, index]"),
        )
        st.text_input(tr("Name"), key="board_name", placeholder=tr("the file's own"))
        st.form_submit_button(tr("Keep it"), type="primary", on_click=keep)


def _written(folder: Path, upload: Any) -> Path:
    """An uploaded file, under its own name in a folder of its own."""
    folder.mkdir()
    path = folder / (Path(str(upload.name)).name or "file")
    path.write_bytes(upload.getvalue())
    return path
