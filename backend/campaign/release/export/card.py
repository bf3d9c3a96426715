"""Write the dataset card: what a reader of a release's folder must know. Pure text."""

from collections import Counter

from backend import __version__
from backend.campaign.judging.rules import RE_OPENED_RULE, RULE_VERSION
from backend.campaign.nouns import Split, Verdict
from backend.campaign.release.export import figures
from backend.campaign.release.export.model import Contents
from backend.campaign.release.export.rules import statistics as rules
from backend.campaign.release.export.rules.documents import REPLACEMENTS
from backend.campaign.release.export.rules.statistics import ReleaseStatistics
from backend.campaign.setup.project.model import Terms

_SHOWN = 20


def card(contents: Contents, statistics: ReleaseStatistics) -> str:
    """The dataset card, beside which the figures lie."""
    grading, counts, truth, under = contents.grading, contents.counts, contents.truth, contents.guideline
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
    agree = f"differ by at most {grading.tolerance}" if grading.tolerance else "are equal"
    half = grading.rounding.value.replace("_", " ")
    counted = rules.markdown(statistics) + figures.markdown()
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
| grades by version of the guideline {" / ".join(map(str, under))} | {" / ".join(map(str, under.values()))} |
| relevance {" / ".join(map(str, scale.grades))} | {" / ".join(str(spread[grade]) for grade in scale.grades)} |

`val.json` and `test.json` hold the graded moments of each query, relevance 0 ({scale.label(0).lower()}) to
{best} ({scale.label(best).lower()});
`train_top*.json` the most similar moments of each training query with the similarity as weight;
`video_corpus.json` every video with its duration in seconds and an index; `raw_annotation.csv` every grade that
counts, `raw_query_moment_pair.csv` every pair that was judged. `manifest.json` has the SHA-256 of each file.
Two grades that {agree} are a consensus on their mean, rounded {half}.
{_left_out(contents)}{_terms(contents.terms)}{counted}{_captions(contents)}"""


def _re_opened(contents: Contents) -> str:
    """How many pairs a lead asked two more people about, if any."""
    rule = f"| pairs re-opened for two more people; of six grades the middle two decide (`{RE_OPENED_RULE}`) |"
    return f"{rule} {contents.re_opened} |\n" if contents.re_opened else ""


def _left_out(contents: Contents) -> str:
    """Which queries and pairs are not in the truth, and which are that a reader may not expect."""
    selection = contents.selection
    said = [
        (selection.unfinished, "not in the truth because pairs of them still wait for grades"),
        (selection.without_relevance, "not in the truth because no pair of them has a relevance"),
        (selection.unfinished_within, "in the truth although pairs of them still wait for grades"),
    ]
    lines = [f"- Queries {what}: {len(queries):,}.\n" for queries, what in said if queries]
    if selection.adjudicated_left_out:
        lines.append(f"- Pairs left out because a lead decided on them: {selection.adjudicated_left_out:,}.\n")
    return "".join(["\n", *lines, "\n`manifest.json` names the queries.\n"]) if lines else ""


def _terms(terms: Terms) -> str:
    """Under which licence it is handed on, and how to cite it."""
    licence = (
        f"Licence: {terms.licence}."
        if terms.licence
        else "No licence chosen: ask those who made this release before you use it."
    )
    quoted = "".join(f"    {line}".rstrip() + "\n" for line in terms.citation.splitlines())
    return f"\n## Licence and citation\n\n{licence}\n" + (f"\nPlease cite:\n\n{quoted}" if quoted else "")


def _captions(contents: Contents) -> str:
    """What kind of captions these are, and what rewriting did to them: the paper's Table 3."""
    changes, undescribed = contents.rewriting, contents.undescribed
    bare = f"\nMoments that nobody described: {undescribed:,}; their captions are null.\n" if undescribed else ""
    if changes is None:
        return f"""
## Captions

Captions are as published: none was rewritten in this project, so they and the queries may name people.
{bare}"""
    kept_back = contents.without_caption - undescribed
    none = (
        f" Moments without an imprecise caption, because it was rejected or not decided: {kept_back:,}; "
        "their captions are empty."
        if kept_back
        else ""
    )
    shown = changes.replacements[:_SHOWN]
    rest = (
        f"\nAnd {len(changes.replacements) - _SHOWN:,} others; the first {REPLACEMENTS} are in `manifest.json`.\n"
        if len(changes.replacements) > _SHOWN
        else ""
    )
    return f"""
## Captions

Captions are imprecise, as the queries are: names and other specifics of the published captions were replaced.{none}
{bare}
| | |
| --- | ---: |
| imprecise captions | {changes.captions:,} |
| of them changed | {changes.changed:,} |
| words a caption, published | {changes.words_before:.2f} |
| words a caption, imprecise | {changes.words_after:.2f} |

| replacement words | count |
| --- | ---: |
{"".join(f"| {words} | {count:,} |{chr(10)}" for words, count in shown)}{rest}"""
