"""The step of the page "Set up" that estimates the work, then chooses the candidate moments of each query."""

from typing import Any

import msgspec
import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.set_up.step import SetUpStep, StepStanding, begin_step, encoder_box, last_job
from annotate_app.server import candidate_jobs, lead_routes
from annotate_app.server.candidate_jobs import CandidateOptions
from annotate_app.shared import look, wording
from annotate_app.shared.upload import upload
from annotate_app.shared.ways import WayThere
from backend.campaign.monitoring.hours.report import expected_work
from backend.campaign.nouns import Person
from backend.campaign.review.model import StatusCounts
from backend.campaign.selection.queries.drawing import queries_csv
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.setting_entries import MOST_CANDIDATES
from backend.campaign.setup.serving.model import Job
from backend.core.errors import ProjectError
from backend.core.messages import said, said_n

KEY = "candidates"
_KINDS = {"": marked("detect from its name"), "sup": marked("with supervision"), "unsup": marked("without supervision")}
_DTYPES = {"": marked("project setting"), "fp32": "fp32", "bf16": "bf16"}
_LOOKED, _AGAIN = "looked at", "again"
_RUNS = "pooled"
"""The kind of upload to which runs for pooling belong."""


@look.lead_callback("set_up_candidates_problem")
def choose(project: Project, lead: Person) -> None:
    """Begin the job that chooses the candidate moments of each query."""
    asked = _form_options(project)
    if asked.runs or asked.visual:
        _pool(project, lead, asked, again=False, dry_run=False)
    else:
        begin_step(project, lead, KEY, said("Choosing candidates"), candidate_jobs.choose, asked)


@look.lead_callback("set_up_candidates_problem")
def look_at(project: Project, lead: Person, again: bool) -> None:
    """Begin the job that previews which candidates the chosen runs would add. The job writes nothing.

    The top predictions of each run become candidates.

    Args:
        project: the project.
        lead: the lead who is signed in.
        again: whether the new candidates are added to a list that was already chosen.
    """
    asked = CandidateOptions(**_runs(project)) if again else _form_options(project)
    if not (asked.runs or asked.visual):
        raise ProjectError(tr("choose a run first: upload it, then add it to the runs to pool"))
    _pool(project, lead, asked, again=again, dry_run=True)


@look.lead_callback("set_up_candidates_problem")
def take(project: Project, lead: Person) -> None:
    """Begin the job that adds the candidates of the previewed runs (their top predictions), as the preview showed."""
    job = last_job(project, lead)
    if job is None or job.subject != KEY or _LOOKED not in job.asked:
        raise ProjectError(tr("somebody dismissed the preview. Preview the runs again"))
    asked = msgspec.json.decode(job.asked[_LOOKED], type=CandidateOptions)
    _pool(project, lead, asked, again=_AGAIN in job.asked, dry_run=False)


def choose_sent(names: list[str]) -> None:
    """Add the uploaded runs to those chosen in the form."""
    chosen = st.session_state.get("candidates_runs") or []
    st.session_state["candidates_runs"] = list(dict.fromkeys([*chosen, *names]))


def _standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    pairs = sum(counts["pairs"].values())
    if pairs:
        return StepStanding(True, tr("{pairs} handed out", pairs=wording.count_of(pairs, "pair")))
    if not counts["queries"]["val"] + counts["queries"]["test"]:
        return StepStanding(False, tr("none yet"), tr("Add queries first."))
    return StepStanding(False, tr("none yet"))


def _show(project: Project, lead: Person, counts: StatusCounts) -> None:
    if any(counts["batches"].values()):
        way = WayThere("Queries", "", tr("Queries"))
        st.html(
            tr(
                "Candidate lists are stored and the first batches are open. Open further batches on the page "
                "{link}. To choose other candidates, remove all queries first.",
                link=way.link,
            )
        )
        sources = ", ".join(counts["sources"]) or tr("an earlier campaign")
        st.caption(tr("Source of candidates: {sources}", sources=plain(sources)))
        st.markdown(tr("**Later runs**: hand out what they found as a further batch."))
        _choose_runs(project, lead)
        st.button(tr("Preview new candidates"), key="look_at_runs", on_click=look_at, args=(True,))
        return
    st.markdown(
        tr(
            "Each query gets a list of candidates. Its first batch is handed out for grading at once. "
            "Annotators never see where a candidate comes from."
        )
    )
    st.checkbox(
        tr("By caption similarity"),
        counts["captions"] > 0,
        key="candidates_captions",
        disabled=not counts["captions"],
        help=None if counts["captions"] else tr("There are no captions. Use frames or runs instead."),
    )
    st.text_input(
        tr("By frames, with a CLIP model"),
        key="candidates_visual",
        placeholder=tr("None, or a model such as sentence-transformers/clip-ViT-B-32"),
    )
    _choose_runs(project, lead)
    _options(project, lead)
    _expected(project, lead)
    with st.container(horizontal=True):
        st.button(tr("Choose candidates"), key="choose_candidates", type="primary", on_click=choose)
        if st.session_state.get("candidates_runs") or st.session_state.get("candidates_visual"):
            st.button(tr("Preview"), key="look_at_runs", on_click=look_at, args=(False,))


def _choose_runs(project: Project, lead: Person) -> None:
    with st.container(key="set-up-runs"):
        upload(
            _RUNS,
            tr("Runs from your computer: results of systems for these queries"),
            lead_routes.KINDS[_RUNS].extensions,
            choose_sent,
        )
        sent = [file.name for file in lead_routes.sent_files(project, _RUNS)]
        if not sent:
            st.download_button(
                tr("Download queries as CSV"),
                data=lambda: queries_csv(project, lead),
                file_name="queries.csv",
                mime="text/csv",
                key="queries_for_systems",
                on_click="ignore",
            )
            return
        runs, depth, iou, videos = st.columns([3, 1.1, 1.1, 1.8], vertical_alignment="bottom")
        runs.multiselect(tr("Runs to pool"), sent, key="candidates_runs", placeholder=tr("None"))
        depth.number_input(
            tr("Depth"),
            1,
            value=CandidateOptions().depth,
            key="candidates_depth",
            help=tr("How many predictions of each run are used per query."),
        )
        iou.number_input(
            tr("Same moment from IoU"),
            0.05,
            1.0,
            CandidateOptions().iou,
            0.05,
            key="candidates_iou",
            help=tr("Spans that overlap at least this much become one candidate."),
        )
        videos.selectbox(
            tr("Videos by number"),
            ["", *sent],
            key="candidates_videos",
            format_func=lambda one: one or tr("not needed"),
            help=tr("For runs with video numbers: an uploaded file that maps each name to [duration, number]."),
        )


def _options(project: Project, lead: Person) -> None:
    size, name = st.columns([1, 3])
    size.number_input(
        tr("Candidates per batch"),
        1,
        MOST_CANDIDATES,
        project.campaign.batch_size,
        key="candidates_batch",
        help=tr("20 in TVR-Ranking. You open further batches later."),
    )
    with name:
        encoder_box(project, lead, "candidates_encoder")
    with st.popover(tr("More options")):
        st.number_input(
            tr("Queries to probe"),
            0,
            key="candidates_probe",
            value=0,
            help=tr(
                "For each of them, the top 60 and 60 other moments are graded, to find out how many candidates "
                "are needed. Not with runs."
            ),
        )
        st.number_input(tr("Random seed of the probes"), 0, value=0, key="candidates_seed")
        st.selectbox(tr("Encoder type"), list(_KINDS), format_func=lambda one: tr(_KINDS[one]), key="candidates_kind")
        st.selectbox(
            tr("Number format"),
            list(_DTYPES),
            format_func=lambda one: tr(_DTYPES[one]),
            key="candidates_dtype",
            help=tr("bf16 is faster on many processors. It counts as another encoder."),
        )


def _expected(project: Project, lead: Person) -> None:
    state = st.session_state
    pooled = bool(state.get("candidates_runs"))
    work = expected_work(
        project, lead, batch_size=state["candidates_batch"], probe=state.get("candidates_probe") or 0, pooled=pooled
    )
    about, most = tr("about") if work.measured else tr("at least"), tr("at most ") if pooled else ""
    look.metrics(
        {
            tr("Queries"): f"{work.queries:,}",
            tr("Pairs"): f"{most}{work.pairs:,}",
            tr("Grades"): f"{most}{work.grades:,}",
            tr("Work"): f"{about} {_time(work.hours)}",
        }
    )
    if work.measured:
        st.caption(
            tr(
                "A grade takes {seconds:.1f} s here so far. Disputed pairs need more grades.",
                seconds=work.seconds,
            )
        )
    else:
        st.caption(
            tr(
                "No grades yet: this counts one viewing of each clip ({seconds:.1f} s on average) per grade. "
                "Grading takes longer, and disputed pairs need more grades.",
                seconds=work.seconds,
            )
        )


def _time(hours: float) -> str:
    return f"{hours:,.1f} h" if hours >= 1 else tr("{hours:.0f} min", hours=hours * 60)


def _runs(project: Project) -> dict[str, Any]:
    """Return the form's choice of runs as values for `CandidateOptions`, by field name.

    `runs` are run files, and `videos` is a file that maps the video numbers in runs to names. `depth` is the number of
    predictions taken from each run for a query. `iou` is the overlap from which two predicted spans are one candidate.
    """
    state = st.session_state
    folder = project.folder / lead_routes.KINDS[_RUNS].folder
    videos = state.get("candidates_videos")
    return {
        "runs": tuple(str(folder / name) for name in state.get("candidates_runs") or ()),
        "videos": str(folder / videos) if videos else None,
        "depth": int(state.get("candidates_depth") or CandidateOptions().depth),
        "iou": float(state.get("candidates_iou") or CandidateOptions().iou),
    }


def _form_options(project: Project) -> CandidateOptions:
    state = st.session_state
    asked = CandidateOptions(
        batch_size=state["candidates_batch"],
        captions=state["candidates_captions"],
        visual=str(state.get("candidates_visual") or "").strip() or None,
        probe=state["candidates_probe"],
        seed=state["candidates_seed"],
        encoder=state["candidates_encoder"],
        kind=state["candidates_kind"] or None,
        dtype=state["candidates_dtype"] or None,
        **_runs(project),
    )
    if not (asked.captions or asked.runs or asked.visual):
        raise ProjectError(tr("choose where candidates come from: captions, frames, or runs"))
    if asked.probe and (asked.runs or asked.visual):
        raise ProjectError(tr("probes use captions only: remove runs and frames, or set probes to 0"))
    return asked


def _pool(project: Project, lead: Person, asked: CandidateOptions, *, again: bool, dry_run: bool) -> None:
    of = said_n("{n} run", "{n} runs", len(asked.runs)) if asked.runs else said("candidates")
    title = said("Previewing {of}", of=of) if dry_run else said("Pooling {of}", of=of)
    kept = {_LOOKED: msgspec.json.encode(asked).decode(), **({_AGAIN: "yes"} if again else {})} if dry_run else {}
    begin_step(project, lead, KEY, title, candidate_jobs.pool, asked, again, dry_run, asked=kept)


def _after_job(job: Job) -> None:
    if _LOOKED in job.asked:
        what = tr("Hand them out") if _AGAIN in job.asked else tr("Choose these candidates")
        st.button(what, key="pool_runs", on_click=take, type="primary")


STEP = SetUpStep(KEY, marked("Candidates"), _standing, _show, then=_after_job)
