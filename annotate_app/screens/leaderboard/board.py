"""Draw the parts of the page "Leaderboard": ranking, charts, groups, errors and cases."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from annotate_app.language import browser_texts, marked, tr, translate_message
from annotate_app.plain import component_key, plain
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, joined, look, wording
from annotate_app.shared.review_clip import moment_path
from backend.campaign.nouns import Person
from backend.campaign.release.board.leaderboard import Leaderboard, report_frames, videos_with_file
from backend.campaign.setup.project.folder import Project
from backend.scoring.report.page import report_page
from backend.scoring.report.parts import board_pictures
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.tables import SCORE_FORMATS, per_query_csv
from backend.scoring.tables import to_csv as score_csv
from backend.scoring.views.case import FIRST as CASE_FIRST
from backend.scoring.views.case import KINDS as CASE_KINDS
from backend.scoring.views.case import CaseView, notable_queries
from backend.scoring.views.case import case_view as score_case
from backend.scoring.views.case import query_title as case_title
from backend.scoring.views.case import unknown_durations_note as case_bars_told
from backend.scoring.views.errors import examples as score_examples
from backend.scoring.views.errors import outcomes as score_outcomes
from backend.scoring.views.ranking import means as score_means_named
from backend.scoring.views.ranking import ranking as score_ranking
from backend.scoring.views.splits import groups as score_groups
from backend.scoring.views.table import Table as ScoreTable
from backend.scoring.views.table import named_keys as score_names

_HERE = Path(__file__).parent
_SCRIPTS = ("../../language/browser.js", "case_view.js")
_mount = st.components.v2.component(
    "reelrank_case_view",
    html='<div class="case"></div>',
    css=(_HERE / "case_view.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
)
_BREAKDOWNS = {"duration": marked("Duration"), "show": marked("Show"), "relevance": marked("Highest relevance")}
_AS_TEXT = ("interval", "difference_interval", "p_holm", "p_t", "wins", "moment")
"""Columns whose cells are shown as text. Other columns hold numbers, so that a click sorts by value."""
_ABREAST = 3
"""The most runs that fit side by side as columns."""
_NUMBER = st.column_config.NumberColumn
_TEXT = st.column_config.TextColumn
_SCORE = partial(_NUMBER, format="%.4f")


def case_view(case: dict[str, Any], key: str) -> None:
    """Draw one query as a picture: cards of its relevant moments, and cards of the predictions of runs.

    Args:
        case: `{"counted", "moments": [card], "runs": [{"name", "counted", "predictions": [card], "told"}]}`. A card has
            the fields of a moment or prediction in `backend.scoring.views.case`. Its `src` is the URL of its clip, or
            None if the project lacks the video. `counted` is a text with the number of all cards and of those shown.
            `told` has one entry for each moment: a text that says how the run did on it, or None.
        key: Streamlit's key of the element; each case view on a page needs its own.
    """
    _mount(key=component_key(key), data=case | browser_texts(_HERE, _SCRIPTS))


def ranking(
    project: Project, lead: Person, board: Leaderboard, scores: Scoreboard, version: str, beside: Callable[[], None]
) -> None:
    """Draw the ranking of runs: means with confidence intervals, comparisons with a chosen baseline, and export files.

    Args:
        project: the project.
        lead: the lead who is signed in.
        board: the leaderboard.
        scores: the scores of the runs.
        version: a text that identifies the scores in the cache.
        beside: a function that draws what belongs directly below the table.
    """
    names = [run.name for run in scores.runs]
    with st.container(horizontal=True):
        focus = _measure(scores, "board_focus")
        baseline = st.selectbox(tr("Baseline"), names, key="board_baseline") if len(names) > 1 else None
    with st.spinner(tr("Resampling")):
        summary = _with_statistics(scores, version, baseline)
    table = score_ranking(summary, focus).without("p")
    if not any(run["missing"] for run in summary["runs"]):
        table = table.without("missing")  # a column of zeros would only take room from the others
    highest = score_names(summary, [focus])[focus].measure.highest
    best = max((run["measures"].get(focus, 0.0) for run in summary["runs"]), default=0.0)
    _frame(
        table,
        "board_ranking",
        # A name may have 100 characters; the others keep their place, and a click on the cell shows it whole.
        place=partial(_NUMBER, width=56, pinned=True),
        run=partial(_TEXT, width=192, pinned=True),
        mean=partial(
            st.column_config.ProgressColumn,
            format="%.4f",
            min_value=0,
            max_value=highest or best or 1.0,
            width=156,
        ),
        interval=partial(_TEXT, width=132),
        difference=partial(_NUMBER, format="%+.4f", width=88),
        difference_interval=partial(_TEXT, width=148),
        p_holm=partial(_TEXT, width=78),
        p_t=partial(_TEXT, width=66),
        wins=partial(_TEXT, width=108),
    )
    beside()
    for note in table.notes:
        st.caption(plain(translate_message(note)))
    _export(project, lead, board, summary)
    with st.expander(tr("All measures")):
        means = score_means_named(summary)
        _frame(means, "board_measures", measure=partial(_TEXT, pinned=True), **dict.fromkeys(names, _SCORE))
        st.caption("  \n".join(plain(translate_message(line)) for line in means.notes))


def _measure(scores: Scoreboard, key: str) -> str:
    """Draw the choice of a measure, such as NDCG, and return the chosen measure's key."""
    keys, names = scores.settings.keys, score_names(scores.summary(), scores.settings.keys)
    chosen = st.selectbox(
        tr("Measure"),
        keys,
        index=keys.index(scores.focus),
        key=key,
        format_func=lambda measure: f"{measure} · {names[measure].title}",
    )
    return chosen or scores.focus


def _frame(table: ScoreTable, key: str, **columns: Callable[..., Any]) -> None:
    """Draw a table of scores, in which numbers are sorted by value and each column head has a tooltip.

    Args:
        table: the table.
        key: Streamlit's key of the element.
        columns: the Streamlit column type to use, such as `st.column_config.NumberColumn`, by the name of the column.
    """
    # Names of runs stay as they are, and so does the p of statistics.
    as_is = [column.run or column.title.startswith("p ") for column in table.columns]
    titles = [translate_message(column.title) for column in table.columns]
    heads = [t if kept else wording.first_large(t) for t, kept in zip(titles, as_is, strict=True)]
    data = {
        head: [
            translate_message(cell.text).removeprefix("-" if cell.value is None else "")
            if column.name in _AS_TEXT or not column.number
            else cell.value
            for cell in cells
        ]
        for head, column in zip(heads, table.columns, strict=True)
        for cells in [table.cells(column.name)]
    }
    configured = {
        head: columns.get(column.name, st.column_config.Column)(help=translate_message(column.help) or None)
        for head, column in zip(heads, table.columns, strict=True)
    }
    st.dataframe(
        pd.DataFrame(data),
        hide_index=True,
        key=key,
        placeholder="",  # the baseline is compared with nothing
        column_config=configured,
    )


@st.cache_data(max_entries=64, show_spinner=False)
def _with_statistics(_scores: Scoreboard, version: str, baseline: str | None) -> dict[str, Any]:
    """Return the summary of the scores with confidence intervals and tests against the baseline, cached.

    The page needs it each time it is drawn, and computing 10,000 resamples of every measure each time would take too
    long. Without a baseline, runs are not compared with one.
    """
    summary = _scores.summary()
    add_statistics(summary, _scores, Sureness(baseline))
    return summary


def charts(scores: Scoreboard) -> None:
    """Draw the charts for a measure that the lead chooses.

    They show the measure by rank cut-off, the order of the runs under each measure, and the two best runs query by
    query. Another chart shows how well each run's predictions overlap with relevant moments (IoU).
    """
    focus = _measure(scores, "board_chart_focus")
    with st.container(key="board-charts"):
        for picture in board_pictures(scores, focus):
            st.header(translate_message(picture.title), anchor=False)
            # Facets keep the widths they were drawn with: stretched to the page they lose their shape. On a narrow
            # page a chart scrolls by itself, see look.css.
            st.vega_lite_chart(picture.chart, width="content", alt=translate_message(picture.caption))
            st.caption(plain(translate_message(picture.caption)))


def groups(scores: Scoreboard) -> None:
    """Draw the mean scores of the runs for groups of queries, such as by duration or by TV show."""
    with st.container(horizontal=True):
        by = st.selectbox(
            tr("Group queries by"),
            list(_BREAKDOWNS),
            key="board_by",
            format_func=lambda breakdown: tr(_BREAKDOWNS[breakdown]),
        )
        focus = _measure(scores, "board_group_focus")
    table = score_groups(scores.summary([by]), by, focus)
    sizes = ""
    if len(scores.runs) > max(len(table.rows), _ABREAST):
        # More runs have room below one another.
        names, counts = table.cells("group"), table.cells("queries")
        sizes = ", ".join(
            f"{translate_message(name.text)}: {count.text}" for name, count in zip(names, counts, strict=True)
        )
        sizes = tr(" Queries {sizes}.", sizes=sizes)
        table = table.without("queries").turned("run")
    _frame(table, f"board_groups_{by}", **dict.fromkeys([column.name for column in table.columns[1:]], _SCORE))
    st.caption(
        f"{plain(translate_message(table.title))}. {plain(' '.join(map(translate_message, table.notes)) + sizes)}"
    )


def errors(board: Leaderboard, scores: Scoreboard) -> None:
    """Draw the share of relevant moments that each run found or missed, by kind of error, and examples of errors."""
    summary = scores.summary(errors=True)
    table = score_outcomes(summary)
    st.markdown(f"{plain(translate_message(table.title))} {plain(' '.join(map(translate_message, table.notes)))}")
    fates = table.columns[1:-1]
    shares = {column.name: [cell.share for cell in table.cells(column.name)] for column in fates}
    st.dataframe(
        pd.DataFrame(shares, index=[cell.text for cell in table.cells("run")]),
        key="board_errors",
        column_config={
            "_index": st.column_config.TextColumn(tr("Run"), width=240),
            **{
                c.name: st.column_config.NumberColumn(
                    translate_message(c.title), format="percent", help=translate_message(c.help)
                )
                for c in fates
            },
        },
    )
    meanings = [(translate_message(column.title), translate_message(column.help)) for column in fates]
    st.dataframe(pd.DataFrame(meanings, columns=[tr("Class"), tr("Meaning")]), hide_index=True)
    examples = score_examples(summary, board.inputs.facts.texts)
    if examples.rows:
        with st.expander(translate_message(examples.title)):
            _frame(examples, "board_examples")


def cases(project: Project, lead: Person, board: Leaderboard, scores: Scoreboard) -> None:
    """Draw a query that the lead chooses as clips: its relevant moments and the predictions of one or two runs."""
    names = {run.name: translate_message(run.label) for run in scores.runs}
    order = notable_queries(scores)
    k, mu = scores.middle
    wide, middle, other, narrow = st.columns([4, 2, 2, 1])
    if not order:
        return
    with wide:
        titles = _queries(board, scores, order)
        chosen = address_state.choice(tr("Query"), "case", titles, box=True)
        query = next(number for number in order if str(scores.queries[number]) == chosen)
    with middle:
        first = address_state.choice(tr("Run"), "run", names, box=True)
    with other:
        labels = {"": tr("no other run"), **names}
        second = address_state.choice(tr("Compare with"), "beside", labels, box=True)
    mu = narrow.selectbox(tr("IoU from"), scores.settings.mu, index=scores.settings.mu.index(mu), key="board_mu")
    shown = [name for name in dict.fromkeys([first, second]) if name]
    (case,) = scores.cases([query], k, mu)
    view = score_case(scores, case, shown, board.inputs.facts)
    look.text_heading(translate_message(view.title))
    case_view(case_data(view, videos_with_file(project, lead)), key=f"case-{query}-{mu}-{'-'.join(shown)}")
    st.caption(
        tr(
            "Matched at K = {k} and an IoU threshold of {mu:g}. You see the first {case_first} predictions and "
            "moments, and all that match. The bar shows where a moment lies in its video; an outline marks the "
            "truth. {case_bars_told} To see the partner of a card, point at it or move to it with Tab.",
            k=k,
            mu=mu,
            case_first=CASE_FIRST,
            case_bars_told=case_bars_told(view.unmeasured),
        )
    )


def _export(project: Project, lead: Person, board: Leaderboard, summary: Mapping[str, Any]) -> None:
    """Draw the buttons that download the scores as a report, CSV, LaTeX or Markdown.

    A file is made only when somebody clicks its button.
    """
    scores = board.scores
    if scores is None:
        return

    def report() -> str:
        made = datetime.fromtimestamp(time.time(), UTC)
        return report_page(
            scores,
            board.inputs,
            made=made,
            asked=Sureness(summary["baseline"]),
            film=report_frames(project, lead),
        )

    files: dict[str, tuple[str, str, Callable[[], str]]] = {
        tr("Report"): ("leaderboard.html", "text/html", report),
        "CSV": ("leaderboard.csv", "text/csv", lambda: score_csv(summary, for_people=True)),
        tr("Every query"): (
            "per-query.csv",
            "text/csv",
            lambda: per_query_csv(summary, list(scores.per_query()), for_people=True),
        ),
        "LaTeX": ("leaderboard.tex", "text/x-tex", lambda: SCORE_FORMATS["latex"](summary)),
        tr("Markdown"): ("leaderboard.md", "text/markdown", lambda: SCORE_FORMATS["markdown"](summary)),
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(tr("Export"), width="content")
        for label, (name, kind, make) in files.items():
            st.download_button(label, data=make, file_name=name, mime=kind, key=f"take-{name}", on_click="ignore")


def case_data(view: CaseView, files: Mapping[str, float]) -> dict[str, Any]:
    """Return the data from which `case_view` draws a query.

    A moment or prediction gets a clip only if its video is in `files` and the clip begins before the video's end.

    Args:
        view: the query with its moments and predictions.
        files: maps each video with a file to its duration in seconds.
    """
    kept = [card for card in view.moments if card.first]
    relevant = sum(card.relevance > 0 for card in view.moments)
    runs = []
    for place, lane in enumerate(view.lanes):
        shown = [card for card in lane.predictions if card.first or card.takes is not None]
        value = [] if lane.value is None else [f"{view.measure} {lane.value:.4f}"]
        runs.append(
            {
                "name": lane.run,
                "counted": "; ".join([*value, *_count_texts("prediction", lane.predictions, shown)]),
                "predictions": [_card(card, files) for card in shown],
                "told": [
                    translate_message(told.text) if told else None for told in (card.told[place] for card in kept)
                ],
            }
        )
    return {
        "counted": "; ".join(
            [*_count_texts("moment", view.moments, kept), tr("{relevant} relevant", relevant=relevant)]
        ),
        "moments": [_card(card, files) for card in kept],
        "runs": runs,
    }


def _count_texts(noun: str, items: Sequence[object], shown: Sequence[object]) -> list[str]:
    """Return a text with the number of items and, if fewer are shown, another with the number shown.

    Return an empty list if there are no items.
    """
    if not items:
        return []
    less = [tr("{shown} shown", shown=len(shown))] if len(shown) < len(items) else []
    return [wording.count_of(len(items), noun), *less]


def _card(card: Any, files: Mapping[str, float]) -> dict[str, Any]:
    """Return the fields of a moment's or prediction's card, with translated texts.

    The field `src` is added: the URL of its clip, or None if there is no clip. `files` maps each video with a file to
    its duration in seconds.
    """
    bar = card.bar
    has_clip = bar.start_s < files.get(bar.video, 0.0)
    texts = {name: translate_message(text) if isinstance(text, str) else text for name, text in asdict(card).items()}
    return texts | {"src": full_path(moment_path(bar)) if has_clip else None}


def _queries(board: Leaderboard, scores: Scoreboard, order: Mapping[int, str]) -> dict[str, str]:
    """Return a title for each query that the lead can choose, by query id.

    A title has the query's text and, if `order` tells it, why the query is worth a look. Queries with the same text
    also show their id.

    Args:
        board: the leaderboard.
        scores: the scores of the runs.
        order: maps a query's index in `scores.queries` to the reason, a key of `CASE_KINDS`, or to an empty text.
    """
    titles = {number: case_title(scores.queries[number], board.inputs.facts) for number in order}
    times = Counter(titles.values())
    titles_by_id = {}
    for number, title in titles.items():
        query = str(scores.queries[number])
        same = tr(" · query {query}", query=query) if times[title] > 1 else ""
        why = f" ({translate_message(CASE_KINDS[order[number]][1])})" if order[number] else ""
        titles_by_id[query] = f"{translate_message(title)}{same}{why}"
    return titles_by_id
