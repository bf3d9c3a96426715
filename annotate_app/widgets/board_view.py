"""The parts of the page "Leaderboard": ranking, charts, groups, errors, cases. Each is a view of one board's scores."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlencode

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.plain import plain
from annotate_app.widgets.case_view import case_view
from backend import api
from backend.campaign.nouns import Person

_KINDS = {"differ": "where runs differ", "worst": "answered badly by all", "best": "answered well by all"}
_BREAKDOWNS = {"duration": "Duration", "show": "Show", "relevance": "Highest relevance"}
_SHOWN = 10
"""Predictions of a run, and truth moments, that a case shows."""


def ranking(project: api.Project, lead: Person, board: api.Leaderboard, scores: api.Scoreboard, version: str) -> None:
    """Means with intervals, and every run against the baseline; files to take along. `version` names the scores."""
    names, keys = [run.name for run in scores.runs], scores.settings.keys
    with st.container(horizontal=True):
        focus = st.selectbox("Measure", keys, index=keys.index(scores.focus), key="board_focus")
        baseline = st.selectbox("Baseline", names, key="board_baseline") if len(names) > 1 else None
    summary = _with_statistics(scores, version, focus, baseline)
    st.dataframe(
        _ranked(summary, focus),
        hide_index=True,
        key="board_ranking",
        placeholder="",  # the baseline is compared with nothing
        column_config={
            # A name may have 100 characters; the others keep their place, and a click on the cell shows it whole.
            "Place": st.column_config.NumberColumn(width=56, pinned=True),
            "Run": st.column_config.TextColumn(width=240, pinned=True),
            f"Mean {focus}": st.column_config.ProgressColumn(format="%.4f", min_value=0, max_value=1),
            "Difference": st.column_config.NumberColumn(format="%+.4f", help="The run's mean minus the baseline's."),
            "p (Holm)": st.column_config.NumberColumn(format="%.4f", help="Sign-flip randomisation, all comparisons."),
            "p (paired t)": st.column_config.NumberColumn(format="%.4f", help="Not adjusted."),
            "Win / tie / loss": st.column_config.TextColumn(help="Queries, against the baseline."),
            "Missing": st.column_config.NumberColumn("Without predictions", help="Queries that the run lacks."),
        },
    )
    for note in summary["statistics"]["notes"]:
        st.caption(plain(note))
    _take_along(project, lead, board, summary)
    with st.expander("All measures"):
        st.dataframe(pd.DataFrame({run["name"]: run["measures"] for run in summary["runs"]}), key="board_measures")


@st.cache_data(max_entries=64, show_spinner="Resampling")
def _with_statistics(_scores: api.Scoreboard, version: str, focus: str, baseline: str | None) -> dict[str, Any]:
    """Every script run shows the table; 10,000 resamples are drawn for the first one alone."""
    summary = _scores.summary()
    api.add_statistics(summary, _scores, api.Sureness(baseline), keys=[focus])
    return summary


def charts(scores: api.Scoreboard) -> None:
    """NDCG by cut-off and threshold, the two best runs query by query, how near the best predictions come."""
    with st.container(key="board-charts"):
        for picture in api.board_pictures(scores):
            st.subheader(picture.title, anchor=False)
            # Facets keep the widths they were drawn with: stretched to the page they lose their shape. On a narrow
            # page a chart scrolls by itself, see look.css.
            st.altair_chart(cast(alt.Chart, picture.chart), width="content", alt=picture.caption)
            st.caption(plain(picture.caption))


def groups(scores: api.Scoreboard) -> None:
    """Means of groups of queries."""
    with st.container(horizontal=True):
        by = st.selectbox("Queries by", list(_BREAKDOWNS), key="board_by", format_func=_BREAKDOWNS.__getitem__)
        keys = scores.settings.keys
        focus = st.selectbox("Measure", keys, index=keys.index(scores.focus), key="board_group_focus")
    parts = {run["name"]: run["by"][by] for run in scores.summary([by])["runs"]}
    first = next(iter(parts.values()))
    rows = []
    for name in first["groups"]:
        cells = {run: part["groups"][name] for run, part in parts.items()}
        values = {run: cell["measures"].get(focus) for run, cell in cells.items()}
        rows.append({"Group": name, "Queries": max(cell["queries"] for cell in cells.values()), **values})
    st.dataframe(pd.DataFrame(rows), hide_index=True, key=f"board_groups_{by}")
    st.caption(f"{focus}; {plain(first['note'])}.")


def errors(scores: api.Scoreboard) -> None:
    """What became of every relevant moment, by run."""
    found = {run["name"]: run["errors"] for run in scores.summary(errors=True)["runs"]}
    first = next(iter(found.values()))
    st.markdown(
        f"What became of the truth's **{first['moments']:,} relevant moments** within the first {first['k']} ranks, at "
        f"an IoU threshold of {first['mu']:g}. Each is counted once, under the first class that holds."
    )
    shares = pd.DataFrame(
        {
            run: {name: count / (part["moments"] or 1) for name, count in part["counts"].items()}
            for run, part in found.items()
        }
    ).T
    st.dataframe(
        shares,
        key="board_errors",
        column_config={
            "_index": st.column_config.TextColumn("Run", width=240),
            **{name: st.column_config.NumberColumn(name, format="percent") for name in shares.columns},
        },
    )
    st.dataframe(pd.DataFrame(api.FATE_MEANINGS.items(), columns=["Class", "Meaning"]), hide_index=True)
    rows = [{"run": run} | example for run, part in found.items() for example in part["examples"]]
    if rows:
        with st.expander("Examples: the most relevant moments of each class"):
            st.dataframe(pd.DataFrame(rows), hide_index=True, key="board_examples")


def cases(project: api.Project, lead: Person, board: api.Leaderboard, scores: api.Scoreboard) -> None:
    """One query seen whole: its truth and what one or two runs predict, as clips."""
    names = [run.name for run in scores.runs]
    order = api.notable_queries(scores)
    k, mu = scores.middle
    wide, middle, other, narrow = st.columns([4, 2, 2, 1])
    query = wide.selectbox(
        "Query", list(order), key="board_query", format_func=lambda number: _query(board, scores, number, order)
    )
    first = middle.selectbox("Run", names, key="board_first")
    second = other.selectbox(
        "Beside it", [None, *names], key="board_second", format_func=lambda name: name or "nothing"
    )
    mu = narrow.selectbox("IoU from", scores.settings.mu, index=scores.settings.mu.index(mu), key="board_mu")
    if query is None:
        return
    shown = [name for name in dict.fromkeys([first, second]) if name]
    (case,) = scores.cases([query], k, mu)
    text = board.inputs.facts.texts.get(str(case.query), f"Query {case.query}")
    st.markdown(f"#### {plain(text)}")
    files = api.videos_with_file(project, lead)
    case_view(case_data(case, shown, files, scores), key=f"case-{query}-{mu}-{'-'.join(shown)}")
    st.caption(
        f"Matched at K = {k} and an IoU threshold of {mu:g}; the first {_SHOWN} predictions and moments, "
        "and all that match. The bar shows where in its video a moment lies; outlined: the truth. Point at a card, or "
        "move to it with Tab, to see its partner."
    )


def _take_along(project: api.Project, lead: Person, board: api.Leaderboard, summary: Mapping[str, Any]) -> None:
    """Downloads; each is made when asked for."""
    scores = board.scores
    if scores is None:
        return

    def report() -> str:
        made = datetime.fromtimestamp(time.time(), UTC)
        return api.report_page(
            scores, board.inputs, made=made, asked=api.Sureness(summary["baseline"]), project=project, by=lead
        )

    files: dict[str, tuple[str, str, Callable[[], str]]] = {
        "Report": ("leaderboard.html", "text/html", report),
        "CSV": ("leaderboard.csv", "text/csv", lambda: api.SCORE_FORMATS["csv"](summary)),
        "Every query": ("per-query.csv", "text/csv", lambda: api.per_query_csv(summary, list(scores.per_query()))),
        "LaTeX": ("leaderboard.tex", "text/x-tex", lambda: api.SCORE_FORMATS["latex"](summary)),
        "Markdown": ("leaderboard.md", "text/markdown", lambda: api.SCORE_FORMATS["markdown"](summary)),
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Take along", width="content")
        for label, (name, kind, make) in files.items():
            st.download_button(label, data=make, file_name=name, mime=kind, key=f"take-{name}", on_click="ignore")


def case_data(case: api.Case, shown: list[str], files: Mapping[str, float], scores: api.Scoreboard) -> dict[str, Any]:
    """A case as the component wants it; clips only of videos in `files`, and nothing after their end."""
    key = f"ndcg@{case.k},{case.mu!r}"
    runs = [run for name in shown for run in case.runs if run.name == name]
    matched = {prediction.takes for run in runs for prediction in run.predictions}
    kept = [n for n, moment in enumerate(case.moments) if n < _SHOWN or moment.number in matched]
    number = scores.queries.index(case.query)
    return {
        "measure": key,
        "moments": [
            {
                "number": case.moments[n].number,
                "relevance": case.moments[n].relevance,
                **_span(case.moments[n], files),
            }
            for n in kept
        ],
        "runs": [
            {
                "name": run.name,
                "value": _value(scores, run.name, number, key),
                "predictions": [
                    {
                        "rank": prediction.rank,
                        "takes": prediction.takes,
                        "relevance": prediction.relevance,
                        "iou": prediction.iou,
                        "verdict": prediction.verdict.value,
                        **_span(prediction, files),
                    }
                    for prediction in run.predictions
                    if prediction.rank <= _SHOWN or prediction.takes is not None
                ],
                "found": [
                    {"rank": run.found[n].rank, "fate": fate.value if (fate := run.found[n].fate) else None}
                    for n in kept
                ],
            }
            for run in runs
        ],
    }


def _span(moment: Any, files: Mapping[str, float]) -> dict[str, Any]:
    span = {"video": moment.video, "start_s": moment.start_s, "end_s": moment.end_s}
    there = moment.start_s < files.get(moment.video, 0.0)
    address = urlencode({"video": moment.video, "start": moment.start_s, "end": moment.end_s})
    return span | {"src": f"/moments.mp4?{address}" if there else None}


def _value(scores: api.Scoreboard, name: str, query: int, key: str) -> float | None:
    if key not in scores.settings.keys:
        return None
    run = next(run for run in scores.runs if run.name == name)
    at = [place for place, number in enumerate(run.query.tolist()) if number == query]
    return float(run.values[scores.settings.keys.index(key), at[0]]) if at else None


def _ranked(summary: Mapping[str, Any], focus: str) -> pd.DataFrame:
    rows = []
    compared = any("comparison" in run for run in summary["runs"])
    for place, run in enumerate(sorted(summary["runs"], key=lambda run: -run["measures"].get(focus, -1.0)), start=1):
        interval = run.get("intervals", {}).get(focus)
        row = {
            "Place": place,
            "Run": run["name"],
            f"Mean {focus}": run["measures"].get(focus),
            "95 % interval": f"{interval['low']:.4f} to {interval['high']:.4f}" if interval else "",
        }
        if compared:
            row |= _compared(run.get("comparison", {}).get(focus))
        rows.append(row | {"Missing": len(run["missing"])})
    return pd.DataFrame(rows)


def _compared(other: Mapping[str, Any] | None) -> dict[str, Any]:
    """A run against the baseline; None is the baseline itself."""
    return {
        "Difference": other["difference"] if other else None,
        "Its 95 % interval": f"{other['difference_low']:+.4f} to {other['difference_high']:+.4f}" if other else "",
        "p (Holm)": other["p_holm"] if other else None,
        "p (paired t)": other["p_t"] if other else None,
        "Win / tie / loss": f"{other['wins']} / {other['ties']} / {other['losses']}" if other else "baseline",
    }


def _query(board: api.Leaderboard, scores: api.Scoreboard, number: int, order: Mapping[int, str]) -> str:
    query = scores.queries[number]
    why = f" ({_KINDS[order[number]]})" if order[number] else ""
    return f"{board.inputs.facts.texts.get(str(query), f'Query {query}')}{why}"
