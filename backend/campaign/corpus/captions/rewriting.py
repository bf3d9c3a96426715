"""Turn captions into imprecise captions: character names become generic words.

*Reads* published captions. *Writes* rewritten captions and one event. A rewriter (rules, or a language model) makes
each distinct text once; what passes the gates is accepted, what does not is for the rewriter's next attempt. After
the last one it waits for a person with the reasons of the gates: who adds the missing name to the cast and runs the
command again, or decides by hand. What a person decided is never asked for again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.corpus.captions.by_rules import ByRules
from backend.campaign.corpus.captions.cast import cast_of
from backend.campaign.corpus.captions.first_names import known_words
from backend.campaign.corpus.captions.gates import Examined, Gates
from backend.campaign.corpus.captions.model import Rewriter, Tagger, Usage
from backend.campaign.corpus.captions.rows import rewrites as caption_rows
from backend.campaign.corpus.captions.rows.rewrites import Rewrite
from backend.campaign.corpus.captions.rules import unknown_names
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.rows import CaptionRow
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.progress import Progress, named
from backend.core.saying import joined, said
from backend.encoders.sentence import Encoder
from backend.store import events
from backend.store.connection import writing
from backend.store.events import EventKind


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """What became of the captions: `at_once`, `after_retry`, `waiting` and `decided` add up to all of them.

    `decided` are those that a person had decided on before, in whatever words.
    `texts` are the distinct texts that were rewritten, and `changed` how many captions got other words. `unknown`
    are probable names that the cast list lacks, the most frequent first. `usage` is what this run took from an
    endpoint, `usage_ever` what all runs of the same model, prompt and temperatures took.
    """

    captions: int
    texts: int
    changed: int
    at_once: int
    after_retry: int
    waiting: int
    decided: int
    unknown: tuple[tuple[str, int], ...]
    usage: Usage
    usage_ever: Usage

    @property
    def accepted(self) -> int:
        """Accepted by the gates, at the first attempt or a later one."""
        return self.at_once + self.after_retry


@dataclass(frozen=True, slots=True)
class _Made:
    """The last rewrite of one text, the attempt it came from, and what the gates said."""

    text: str
    attempt: int
    verdict: Examined


def rewrite_captions(
    project: Project,
    by: Lead | Operator,
    encoder: Encoder,
    *,
    rewriter: Rewriter | None = None,
    tagger: Tagger | None = None,
    now: float,
    progress: Progress | None = None,
) -> RewriteReport:
    """Rewrite every published caption that no person decided on, replacing earlier rewrites.

    Args:
        project: with captions.
        by: who does.
        encoder: measures how similar a rewrite is to its caption.
        rewriter: who rewrites; the rules with the project's cast list if none is given.
        tagger: finds names by a model, beside the cast and capitals.
        now: seconds since 1970.
        progress: called with (what is done, done, all).

    Raises:
        ProjectError: there are no captions, or queries were drawn from the earlier rewrites already.
    """
    store = project.store
    captions = corpus.published_captions(store.db)
    if not captions:
        raise ProjectError(
            said("there are no captions to rewrite: run `{command}` first", command=steps.importing(project.folder))
        )
    require_no_queries(project)
    cast = cast_of(project)
    originals = [_original(caption) for caption in captions]
    known = known_words(encoder.vocabulary(), originals)
    rewriter = rewriter or ByRules(cast, project.settings.rewrite.people, known)
    decided = caption_rows.decided(store.db)
    unknown = unknown_names(originals, cast, known)
    gates = Gates(encoder, project.embeddings, cast, unknown, tagger, known)
    open_ones = [caption for caption in captions if caption.caption_id not in decided]
    made = _made([_original(caption) for caption in open_ones], rewriter, gates, progress)
    rewrites = [_rewrite(caption, made[_original(caption)], rewriter) for caption in open_ones]
    accepted = Counter(rewrite.attempts for rewrite in rewrites if rewrite.accepted)
    report = RewriteReport(
        captions=len(captions),
        texts=len(made),
        changed=sum(rewrite.text != _original(rewrite.source) for rewrite in rewrites),
        at_once=accepted[1],
        after_retry=accepted.total() - accepted[1],
        waiting=len(rewrites) - accepted.total(),
        decided=len(captions) - len(open_ones),
        unknown=tuple(unknown.most_common()),
        usage=rewriter.usage,
        usage_ever=rewriter.usage_ever,
    )
    with writing(store) as db:
        require_no_queries(project)  # a model takes its time
        caption_rows.replace_rewrites(db, rewrites)
        events.record(
            db,
            EventKind.CAPTIONS_REWRITTEN,
            at=now,
            actor=by.annotator_id,
            subject="captions",
            payload={
                "rule_version": rewriter.version(1),
                "accepted": report.accepted,
                "after_retry": report.after_retry,
                "waiting": report.waiting,
                "decided": report.decided,
                "requests": report.usage.requests,
                "tokens_in": report.usage.tokens_in,
                "tokens_out": report.usage.tokens_out,
                "encoder": encoder.identity,
                "tagger": tagger.identity if tagger else None,
            },
        )
    return report


def require_no_queries(project: Project) -> None:
    """Raise a `ProjectError` if queries were drawn from the captions already."""
    if caption_rows.any_query(project.store.db):
        raise ProjectError(said("queries were drawn from the captions already; their texts are fixed from then on"))


def _made(originals: Sequence[str], rewriter: Rewriter, gates: Gates, progress: Progress | None) -> dict[str, _Made]:
    """Each distinct original with its rewrite: the first that passes the gates, else the last attempt's."""
    made: dict[str, _Made] = {}
    asked = list(dict.fromkeys(originals))
    for attempt in range(1, rewriter.attempts + 1):
        what = said("rewriting") if attempt == 1 else said("attempt {number}", number=attempt)
        texts = rewriter.rewrite(asked, attempt, progress=named(progress, what))
        verdicts = gates.examine(asked, texts, progress=progress)
        made |= {
            original: _Made(text, attempt, verdict)
            for original, text, verdict in zip(asked, texts, verdicts, strict=True)
        }
        asked = [original for original in asked if made[original].verdict.reasons]
        if not asked:
            break
    return made


def _rewrite(caption: CaptionRow, made: _Made, rewriter: Rewriter) -> Rewrite:
    """The row of one caption; where there is no answer, the caption's own words wait for a person."""
    return Rewrite(
        source=caption,
        text=made.text or _original(caption),
        rule_version=rewriter.version(made.attempt),
        attempts=made.attempt,
        similarity=made.verdict.similarity,
        accepted=not made.verdict.reasons,
        reason=joined("; ", made.verdict.reasons),
    )


def _original(caption: CaptionRow) -> str:
    """The text of a published caption without the stray spaces that published texts keep."""
    return caption.text.strip()
