"""Rewrite published captions: replace the names of characters by generic phrases such as `a woman`.

*Reads* published captions. *Writes* rewritten captions and one event. A rewriter (rules, or a language model) rewrites
each distinct text once. A rewrite that passes the rewrite check is accepted; the others get the rewriter's next
attempt. After its last attempt, a failed rewrite waits for a lead, with the reasons. If the name mapping lacked a name,
the lead adds it and starts the rewriting again. Otherwise the lead decides by hand. Captions that a lead decided on are
not rewritten again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.captions.decisions import require_no_queries
from backend.campaign.corpus.captions.model import (
    CAPTIONS_REWRITTEN,
    CheckCounts,
    Rewriter,
    RewriteReport,
    Tagger,
    Usage,
)
from backend.campaign.corpus.captions.name_mapping import known_words, name_mapping_of
from backend.campaign.corpus.captions.rewrite_check import ByModel, RewriteCheck, RewriteVerdict
from backend.campaign.corpus.captions.rows import Rewrite
from backend.campaign.corpus.captions.rules import NOTHING_KNOWN, RULES_VERSION, Known, rewrite, unknown_names
from backend.campaign.corpus.captions.rules.names import NameMapping
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.rows import CaptionRow
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import People
from backend.campaign.setup.project.sentence_encoder import load_encoder
from backend.core.errors import ProjectError
from backend.core.messages import joined, said
from backend.core.progress import Progress, Steps, steps_of
from backend.encoders.sentence import Encoder
from backend.language import chat
from backend.language.endpoint import Endpoint
from backend.language.names import FlairTagger
from backend.store import events
from backend.store.connection import writing


@dataclass(frozen=True, slots=True)
class ByRules:
    """Rewrites captions by rules and a name mapping, in one attempt; satisfies the protocol `Rewriter`.

    `mapping` gives the phrase for each name. `people` says whether two named women become `two people` (`counted`),
    `two women` (`joined`), or `a woman and another woman` (`apart`). `known` has word lists that tell names from
    ordinary words.
    """

    mapping: Mapping[str, str]
    people: People = "counted"
    known: Known = field(default=NOTHING_KNOWN, repr=False)

    @property
    def attempts(self) -> int:
        """The largest number of attempts for a caption: always 1, because the same rules give the same result."""
        return 1

    @property
    def usage(self) -> Usage:
        """The requests and tokens that this object has used: always 0, because the rules ask no language model."""
        return Usage()

    @property
    def usage_ever(self) -> Usage:
        """The requests and tokens that all runs have used: always 0, because the rules ask no language model."""
        return Usage()

    def version(self, attempt: int = 1) -> str:
        """Return the version of the rules, the option `people`, and a hash of the name mapping, in one text."""
        digest = blake2b(repr(sorted(self.mapping.items())).encode(), digest_size=4).hexdigest()
        return f"{RULES_VERSION}+{self.people}+cast-{digest}"

    def rewrite(self, texts: Sequence[str], attempt: int = 1, *, progress: Steps | None = None) -> list[str]:
        """Return each text with its names replaced by generic phrases; `attempt` and `progress` are ignored."""
        mapping = NameMapping(self.mapping)
        return [rewrite(text, mapping, self.people, self.known) for text in texts]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The last rewrite of one text, the number of the attempt that made it (from 1), and the result of its check."""

    text: str
    attempt: int
    verdict: RewriteVerdict


@in_charge
def rewrite_captions(
    project: Project,
    by: Lead | Operator,
    *,
    endpoint: Endpoint | None = None,
    rewriter: Rewriter | None = None,
    encoder: Encoder | None = None,
    tagger: Tagger | None = None,
    now: float,
    progress: Progress | None = None,
) -> RewriteReport:
    """Replace the names in every published caption, except those that a lead has decided on. Replace earlier rewrites.

    Args:
        project: the project, with captions.
        by: who rewrites; their name goes on record.
        endpoint: a language model that rewrites; None rewrites by rules with the project's name mapping.
        rewriter: a rewriter to use instead of the endpoint and the rules.
        encoder: measures how similar a rewrite is to its caption; None uses the project's encoder.
        tagger: finds names with a model, in addition to the mapping and capitals; None uses the tagger in the project's
            settings, if they name one.
        now: seconds since 1970.
        progress: called with (current step, done, all).

    Raises:
        ProjectError: there are no captions, or queries were already drawn from earlier rewrites.
        EndpointUnavailable: the language model cannot be reached. Answers received before are stored, and the next run
            reuses them.
        TaggerUnavailable: the settings name a tagger that cannot be loaded.
        EncoderUnavailable: the encoder cannot be found.
    """
    if endpoint:
        chat.require(endpoint)  # checked before the encoder is loaded, which takes long
    store, settings = project.store, project.settings.rewrite
    encoder = encoder or load_encoder(project)
    if tagger is None and settings.ner:
        tagger = FlairTagger(settings.ner, settings.ner_python)
    captions = corpus.published_captions(store.db)
    if not captions:
        raise ProjectError(
            said(
                "there are no captions to rewrite: add them on the page Set up, or run `{command}`",
                command=steps.importing(project.folder),
            )
        )
    require_no_queries(store.db)
    mapping = name_mapping_of(project)
    originals = [_original(caption) for caption in captions]
    known = known_words(encoder.vocabulary(), originals)
    if rewriter is None:
        rewriter = ByModel(store, endpoint, now=now) if endpoint else ByRules(mapping, settings.people, known)
    decided = rows.decided_captions(store.db)
    unknown = unknown_names(originals, mapping, known)
    check = RewriteCheck(encoder, project.embeddings, mapping, unknown, tagger, known)
    undecided = [caption for caption in captions if caption.caption_id not in decided]
    outcomes, checks = _rewrite_all([_original(caption) for caption in undecided], rewriter, check, progress)
    rewrites = [_rewrite_row(caption, outcomes[_original(caption)], rewriter) for caption in undecided]
    accepted = Counter(rewrite.attempts for rewrite in rewrites if rewrite.accepted)
    report = RewriteReport(
        captions=len(captions),
        texts=len(outcomes),
        changed=sum(rewrite.text != _original(rewrite.source) for rewrite in rewrites),
        at_once=accepted[1],
        after_retry=accepted.total() - accepted[1],
        waiting=len(rewrites) - accepted.total(),
        decided=len(captions) - len(undecided),
        unknown=tuple(unknown.most_common()),
        usage=rewriter.usage,
        usage_ever=rewriter.usage_ever,
        checks=checks,
    )
    with writing(store) as db:
        require_no_queries(db)  # queries may have been drawn while a model was at work
        changed = rows.replace_rewrites(db, rewrites)
        payload = {
            "rule_version": rewriter.version(1),
            **{name: getattr(report, name) for name in ("accepted", "after_retry", "waiting", "decided")},
            **{name: getattr(report.usage, name) for name in ("requests", "tokens_in", "tokens_out")},
            "checks": [asdict(counts) for counts in checks],
            **{"encoder": encoder.identity, "tagger": tagger.identity if tagger else None},
        }
        versions = [rewriter.version(attempt + 1) for attempt in range(rewriter.attempts)]
        asked = events.asked(versions=versions, encoder=encoder.identity, tagger=payload["tagger"])
        done = events.note_once(db, CAPTIONS_REWRITTEN, by, "captions", payload, now=now, changed=changed, asked=asked)
    return replace(report, done=done)


def _rewrite_all(
    originals: Sequence[str], rewriter: Rewriter, check: RewriteCheck, progress: Progress | None
) -> tuple[dict[str, _Outcome], tuple[CheckCounts, ...]]:
    """Map each distinct original text to its first rewrite that passes the check, or else to its last rewrite.

    Return this map, and the counts of the check for each attempt.
    """
    outcomes: dict[str, _Outcome] = {}
    checks: list[CheckCounts] = []
    remaining = list(dict.fromkeys(originals))
    for attempt in range(1, rewriter.attempts + 1):
        step = said("rewriting") if attempt == 1 else said("attempt {number}", number=attempt)
        texts = rewriter.rewrite(remaining, attempt, progress=steps_of(progress, step))
        verdicts = check.examine(remaining, texts, progress=progress)
        outcomes |= {
            original: _Outcome(text, attempt, verdict)
            for original, text, verdict in zip(remaining, texts, verdicts, strict=True)
        }
        checks.append(_check_counts(rewriter.version(attempt), verdicts, tagged=check.tagger is not None))
        remaining = [original for original in remaining if outcomes[original].verdict.reasons]
        if not remaining:
            break
    return outcomes, tuple(checks)


def _check_counts(version: str, verdicts: Sequence[RewriteVerdict], *, tagged: bool) -> CheckCounts:
    return CheckCounts(
        version=version,
        texts=len(verdicts),
        passed=sum(not verdict.reasons for verdict in verdicts),
        dissimilar=sum(verdict.dissimilar for verdict in verdicts),
        named=sum(verdict.named for verdict in verdicts),
        tagged=sum(verdict.tagged for verdict in verdicts) if tagged else None,
        unanswered=sum(verdict.similarity is None for verdict in verdicts),
    )


def _rewrite_row(caption: CaptionRow, outcome: _Outcome, rewriter: Rewriter) -> Rewrite:
    """Return the database row for the rewrite of one caption; it is accepted if it passed the check.

    If the rewriter gave no text, the row has the published text, and waits for a lead's decision.
    """
    return Rewrite(
        source=caption,
        text=outcome.text or _original(caption),
        rule_version=rewriter.version(outcome.attempt),
        attempts=outcome.attempt,
        similarity=outcome.verdict.similarity,
        accepted=not outcome.verdict.reasons,
        reason=joined("; ", outcome.verdict.reasons),
    )


def _original(caption: CaptionRow) -> str:
    """Return the text of a published caption without the spaces around it."""
    return caption.text.strip()
