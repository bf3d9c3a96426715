"""Write the dataset card (`README.md`) of a release, and draw its figures.

The same release content always gives the same files, byte for byte.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend import __version__
from backend.campaign.judging.rules import RE_OPENED_RULE, RULE_VERSION
from backend.campaign.nouns import Split, Verdict
from backend.campaign.release.export.model import MODEL_GRADES, Contents
from backend.campaign.release.export.rules import statistics as rules
from backend.campaign.release.export.rules.documents import REPLACEMENTS, model_grades_document
from backend.campaign.release.export.rules.statistics import (
    ALL,
    Documents,
    ReleaseStatistics,
    TruthValues,
    measure,
    parts,
)
from backend.campaign.setup.project.model import Terms

if TYPE_CHECKING:
    import altair as alt

_PX = 300, 220
_BARS = 24
"""The approximate number of bars of a histogram of seconds."""
_STEPS_S = (0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
Rows = list[dict[str, Any]]


def figures(documents: Documents) -> dict[str, bytes]:
    """Return every figure of the dataset card as a PNG, by file name."""
    from backend.scoring import drawing

    values = {name: measure(queries) for name, queries, _ in parts(documents)}
    return {f"{name}.png": drawing.png(draw(documents, values).to_dict()) for name, draw in _FIGURES.items()}


def markdown() -> str:
    """Return the part of the dataset card that shows the figures, as Markdown. They lie in the card's folder."""
    return "\n" + "\n".join(f"![{_ALT_TEXTS[name]}]({name}.png)\n" for name in _FIGURES)


def bars_of(values: Sequence[float]) -> Rows:
    """Return a histogram of durations in seconds as bars of equal width: `low`, `high` and `count` of each.

    The last bar counts all values from the 99th percentile on.

    >>> bars_of([0.2, 0.4, 3.0, 9.0])
    [{'low': 0.0, 'high': 0.5, 'count': 2}, {'low': 3.0, 'high': 3.5, 'count': 2}]
    """
    if not values:
        return []
    end = sorted(values)[int(0.99 * (len(values) - 1))]
    step = next((step for step in _STEPS_S if end / step <= _BARS), _STEPS_S[-1])
    last = int(end // step)
    counts = Counter(min(int(value // step), last) for value in values)
    return [
        {"low": place * step * 1.0, "high": (place + 1) * step * 1.0, "count": counts[place]}
        for place in sorted(counts)
    ]


def _queries(documents: Documents, values: Mapping[str, TruthValues]) -> "alt.TopLevelMixin":
    import altair as alt

    lengths = {name: Counter(part.values.query_words) for name, part in values.items()}
    relevant = {
        name: Counter(counts.total() - counts[0] for counts in part.relevances) for name, part in values.items()
    }
    return alt.hconcat(
        _shares(lengths, "words of a query", "Length of queries"),
        _shares(relevant, "moments of relevance 1 or more", "Relevant moments of a query"),
        spacing=34,
    )


def _durations(documents: Documents, values: Mapping[str, TruthValues]) -> "alt.TopLevelMixin":
    import altair as alt

    whole = values[ALL].values
    return alt.hconcat(
        _histogram(bars_of(whole.moment_s), "seconds of a moment (last bar: and more)", "Duration of moments"),
        _histogram(bars_of(whole.video_s), "seconds of a video (last bar: and more)", "Duration of their videos"),
        spacing=34,
    )


def _relevances(documents: Documents, values: Mapping[str, TruthValues]) -> "alt.TopLevelMixin":
    import altair as alt

    grades = range(documents.highest + 1)
    graded = {name: sum(part.relevances, Counter[int]()) for name, part in values.items()}
    ratios = Counter(min(int(value * 50), 49) for value in values[ALL].values.ratio)
    places: Rows = [{"low": n / 50, "high": (n + 1) / 50, "count": ratios[n]} for n in sorted(ratios)]
    return alt.hconcat(
        _shares(graded, "relevance", "Relevances", sorted_by=grades),
        _histogram(places, "a moment's share of its video", "Moments in their videos"),
        spacing=34,
    )


def _shares(
    counted: Mapping[str, Counter[int]], across: str, title: str, sorted_by: Sequence[int] | None = None
) -> "alt.Chart":
    """Return a bar chart that compares how a number, such as words per query, is distributed in the splits.

    For each number it has one bar per split: the share of the split's queries or moments with this number. `counted`
    maps each split to its counts by number. `across` is the title of the axis of numbers, and `sorted_by` gives the
    numbers on it in order.
    """
    import altair as alt

    splits = [name for name in counted if name != ALL]
    rows = list(_split_rows({name: counted[name] for name in splits}))
    values = [row["value"] for row in rows]
    whole = sorted_by or range(min(values, default=0), max(values, default=0) + 1)
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "value:O",
                title=across,
                scale=alt.Scale(domain=list(whole)),
                axis=alt.Axis(labelAngle=0, labelOverlap="greedy", grid=False),
            ),
            xOffset=alt.XOffset("split:N", sort=splits),
            y=alt.Y("share:Q", title="share of the split", axis=alt.Axis(format="%")),
            color=alt.Color("split:N", sort=splits, scale=alt.Scale(domain=splits), title=None),
        )
        .properties(width=_PX[0], height=_PX[1], title=alt.TitleParams(title, anchor="start"))
    )
    return chart


def _split_rows(counts_by_split: Mapping[str, Counter[int]]) -> Iterator[dict[str, Any]]:
    for split, counts in counts_by_split.items():
        total = counts.total()
        for value in sorted(counts):
            if counts[value]:
                yield {"split": str(split), "value": value, "share": counts[value] / total}


def _histogram(rows: Rows, across: str, title: str) -> "alt.Chart":
    import altair as alt

    from backend.scoring.drawing import PALETTE

    chart: alt.Chart = (
        alt.Chart(alt.InlineData(rows))
        .mark_rect(color=PALETTE[2], stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("low:Q", title=across, scale=alt.Scale(zero=True, nice=False), axis=alt.Axis(grid=False)),
            x2="high:Q",
            y=alt.Y("count:Q", title="number", scale=alt.Scale(zero=True)),
            y2=alt.Y2Datum(0),
        )
        .properties(width=_PX[0], height=_PX[1], title=alt.TitleParams(title, anchor="start"))
    )
    return chart


_FIGURES: dict[str, Callable[[Documents, Mapping[str, TruthValues]], "alt.TopLevelMixin"]] = {
    "queries": _queries,
    "durations": _durations,
    "relevances": _relevances,
}
_ALT_TEXTS = {
    "queries": "Two bar charts: how many words queries have, and how many relevant moments",
    "durations": "Two histograms: how long moments last, and how long their videos",
    "relevances": "Two bar charts: how often each relevance was given, and which share of its video a moment is",
}
FIGURES = tuple(f"{name}.png" for name in _FIGURES)


_MOST_LISTED = 20


def card(contents: Contents, statistics: ReleaseStatistics) -> str:
    """Return the dataset card of a release as Markdown; it links to the figures in the same folder."""
    grading, counts, truth, guidelines = contents.grading, contents.counts, contents.truth, contents.guideline
    spread = Counter(
        moment["relevance"]
        for documents in truth.values()
        for query in documents
        for moment in query["relevant_moment"]
    )
    simulated = (
        f"\n> **Simulated judgements.** {counts['simulated']} of the {counts['judgements']} grades were made up by "
        "the demo, not given by people. Do not use this release as ground truth.\n"
        if counts["simulated"]
        else ""
    )
    selection, scale, best = contents.selection, grading.scale, grading.scale.highest
    agreement = f"differ by at most {grading.tolerance}" if grading.tolerance else "are equal"
    half = grading.rounding.value.replace("_", " ")
    statistics_section = rules.markdown(statistics) + markdown()
    return f"""# {contents.name}: graded ground truth for ranked video moment retrieval
{simulated}
Made with ReelRank {__version__}. Candidates chosen by {contents.chosen_by}; consensus rule `{RULE_VERSION}`.

| | |
| --- | ---: |
| validation queries | {len(truth[Split.VAL])} |
| test queries | {len(truth[Split.TEST])} |
| training queries (pseudo labels) | {counts["queries"]["train"]} |
| pairs with a relevance | {selection.moments} |
| of them decided by a lead (`adjudicated`) | {selection.adjudicated} |
{_re_opened(contents)}| pairs discarded (no consensus) | {counts["pairs"][Verdict.DISCARDED]} |
| grades | {counts["judgements"]} |
| grades by version of the guideline {" / ".join(map(str, guidelines))} | {" / ".join(map(str, guidelines.values()))} |
| relevance {" / ".join(map(str, scale.grades))} | {" / ".join(str(spread[grade]) for grade in scale.grades)} |

`val.json` and `test.json` hold the graded moments of each query, relevance 0 ({scale.label(0).lower()}) to
{best} ({scale.label(best).lower()});
`train_top*.json` the most similar moments of each training query with the similarity as weight;
`video_corpus.json` every video with its duration in seconds and an index; `raw_annotation.csv` every grade that
counts, `raw_query_moment_pair.csv` every pair that was judged; the files `.jsonl` hold the same rows.
`manifest.json` has the SHA-256 of each file, and `croissant.json` describes them for catalogues and loaders.

    from datasets import load_dataset
    truth = load_dataset("path/to/this/folder", "truth")  # also "grades", "pairs" and the training sets

Two grades that {agreement} are a consensus on their mean, rounded {half}.
{_left_out(contents)}{_model_grades(contents)}{_terms(contents.terms)}{statistics_section}{_captions(contents)}"""


def _re_opened(contents: Contents) -> str:
    """Return the card's table row that counts re-opened pairs; an empty text if there are none.

    A lead has asked two more annotators to grade such a pair.
    """
    rule = f"| pairs re-opened for two more people; of six grades the middle two decide (`{RE_OPENED_RULE}`) |"
    return f"{rule} {contents.re_opened} |\n" if contents.re_opened else ""


def _left_out(contents: Contents) -> str:
    """Return the card's list of queries and pairs that are missing in the released ground truth, with their numbers.

    The list also counts queries that are in the truth although some of their pairs still need grades. The text is empty
    if there is nothing to list.
    """
    selection = contents.selection
    reasons = [
        (selection.unfinished, "not in the truth because pairs of them still wait for grades"),
        (selection.without_relevance, "not in the truth because no pair of them has a relevance"),
        (selection.unfinished_within, "in the truth although pairs of them still wait for grades"),
    ]
    lines = [f"- Queries {reason}: {len(queries):,}.\n" for queries, reason in reasons if queries]
    if selection.adjudicated_left_out:
        lines.append(f"- Pairs left out because a lead decided on them: {selection.adjudicated_left_out:,}.\n")
    return "".join(["\n", *lines, "\n`manifest.json` names the queries.\n"]) if lines else ""


def _model_grades(contents: Contents) -> str:
    """Return the card's section about the grades of models; an empty text if the release has none."""
    if not contents.options.with_model_grades:
        return ""
    lines = "".join(
        f"- `{judge['model']}` (prompt `{judge['prompt_version']}`): {len(judge['grades']):,} grades.\n"
        for judge in model_grades_document(contents)["judges"]
    )
    return f"""
## Grades of models

`{MODEL_GRADES}` holds grades that models gave, not people. They are not part of the truth: no relevance was made from
them. Do not use them as ground truth.

{lines}"""


def _terms(terms: Terms) -> str:
    """Return the card's section about the licence and how to cite the release."""
    licence = (
        f"Licence: {terms.licence}."
        if terms.licence
        else "No licence chosen: ask those who made this release before you use it."
    )
    quoted = "".join(f"    {line}".rstrip() + "\n" for line in terms.citation.splitlines())
    return f"\n## Licence and citation\n\n{licence}\n" + (f"\nPlease cite:\n\n{quoted}" if quoted else "")


def _captions(contents: Contents) -> str:
    """Return the card's section that says whether captions were rewritten, and what changed (the paper's Table 3)."""
    changes, undescribed = contents.rewriting, contents.undescribed
    undescribed_note = (
        f"\nMoments that nobody described: {undescribed:,}; their captions are null.\n" if undescribed else ""
    )
    if changes is None:
        return f"""
## Captions

Captions are as published: none was rewritten in this project, so they and the queries may name people.
{undescribed_note}"""
    kept_back = contents.without_caption - undescribed
    missing = (
        f" Moments without an imprecise caption, because it was rejected or not decided: {kept_back:,}; "
        "their captions are empty."
        if kept_back
        else ""
    )
    listed = changes.replacements[:_MOST_LISTED]
    rest = (
        f"\nAnd {len(changes.replacements) - _MOST_LISTED:,} others; the first {REPLACEMENTS} are in `manifest.json`.\n"
        if len(changes.replacements) > _MOST_LISTED
        else ""
    )
    return f"""
## Captions

Captions are imprecise, as the queries are: names and other specifics of the published captions were replaced.{missing}
{undescribed_note}
| | |
| --- | ---: |
| imprecise captions | {changes.captions:,} |
| of them changed | {changes.changed:,} |
| words a caption, published | {changes.words_before:.2f} |
| words a caption, imprecise | {changes.words_after:.2f} |
| replacement words, without articles | {changes.replaced:,} |
| of them a caption | {changes.replaced_per_caption:.2f} |

| rewritten by | captions |
| --- | ---: |
{"".join(f"| `{version}` | {count:,} |{chr(10)}" for version, count in changes.versions)}
| replacement words | count |
| --- | ---: |
{"".join(f"| {words} | {count:,} |{chr(10)}" for words, count in listed)}{rest}"""
