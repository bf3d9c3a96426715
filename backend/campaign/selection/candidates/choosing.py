"""Choose the candidates of each query (its most similar moments under a named encoder), and choose that encoder.

*Reads* queries and captions. *Writes* candidate, batch, pair, seat, events. For every validation and test query, the
`MAX_CANDIDATES` most similar moments are stored with ranks, similarities and the encoder's identity. This list is kept
and never recomputed. The first batch of it is opened for judging at once.

A probe tells how deep judging has to go: for some queries the 60 most similar moments and 60 of all the others are
judged too. If one of these moments is in an open batch, it is judged there. When a further batch is opened, pairs of
the probe that belong to it are moved into it. A release never holds pairs that belong only to a probe.
"""

from collections.abc import Iterator, Sequence

from backend.campaign.corpus.captions import rows as captions_rows
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.selection.candidates import model
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.model import CANDIDATES_ADDED, CANDIDATES_CHOSEN, CandidateReport
from backend.campaign.selection.candidates.rows import CandidateRow
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.drawing import require_no_lists
from backend.campaign.selection.queries.model import QUERIES_TAKEN_BACK, QueryRow
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project import settings_file as files
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import MAX_CANDIDATES, Project
from backend.campaign.setup.project.sentence_encoder import load_encoder
from backend.core.errors import EncoderUnavailable, ProjectError
from backend.core.ids import MomentId, QueryId
from backend.core.messages import said
from backend.core.progress import Progress, steps_of
from backend.core.where import HERE, Where
from backend.encoders import sentence
from backend.encoders.cache import encode_cached
from backend.encoders.search import QUERIES_AT_ONCE, Captions
from backend.encoders.selection import Ranking, left_out
from backend.encoders.sentence import Encoder
from backend.encoders.vocabulary import find_unread
from backend.store import events
from backend.store.connection import writing

_PROBED_AT_ONCE = 8
"""Number of queries whose whole ranking is in memory at a time: one row for every moment of the corpus."""


@in_charge
def choose_encoder(
    project: Project, by: Lead | Operator, name: str | None = None, kind: str | None = None, *, dtype: str | None = None
) -> Project:
    """Write another sentence encoder into the project's settings, once its files are found.

    Args:
        project: the project.
        by: a lead or an operator.
        name: the name or folder of the encoder; None keeps the present one.
        kind: how the encoder makes its vectors: `sup`, `unsup` or `minilm`. None takes it from a new name, and
            otherwise keeps the present kind.
        dtype: the number format in which it computes: `fp32` or `bf16`; None keeps the present one.

    Raises:
        ProjectError: there are candidate lists already; their encoder, if it is another, stays.
        EncoderUnavailable: the encoder cannot be found.
    """
    settings = project.settings
    if name is None:
        name, kind = settings.encoder, kind or settings.encoder_kind
    try:
        spec = sentence.resolve(name, kind, dtype or settings.encoder_dtype)
    except EncoderUnavailable:
        require_no_lists(project)  # the first reason: no other encoder would do
        raise
    if (spec.name, spec.kind, spec.dtype) == (settings.encoder, settings.encoder_kind, settings.encoder_dtype):
        return project  # nothing to write, even if there are lists
    require_no_lists(project)
    sentence.load(spec)
    return projects.set_encoder(project, spec.name, spec.kind, spec.dtype)


@in_charge
def encoder_name(project: Project, by: Lead | Operator) -> str:
    """Return the project's encoder as its settings file names it now."""
    return files.read_settings(project.folder).encoder


@in_charge
def choose_candidates(
    project: Project,
    by: Lead | Operator,
    *,
    encoder: Encoder | None = None,
    batch_size: int | None = None,
    probe: int = 0,
    seed: int = 0,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> CandidateReport:
    """Store the candidate lists of all validation and test queries, and give the first batch of each to annotators.

    Args:
        project: the project.
        by: the person who chooses them; their name goes on record.
        encoder: the sentence encoder, whose identity is stored with every list; None for the project's.
        batch_size: number of candidates in a batch from now on, 1 to `MAX_CANDIDATES`; None leaves it as it is.
        probe: number of queries for which further moments are judged too, to learn how deep judging must go.
        seed: seeds the draw of these queries and of some of these moments.
        where: where sentences are encoded.
        now: seconds since 1970.
        progress: called with (name of the step, number done, number of all).

    Raises:
        AlreadyDone: exactly these candidates were chosen before.
        ProjectError: no queries or no captions yet, other candidate lists exist already, or no such batch size.
        EncoderUnavailable: the encoder cannot be found.
    """
    store = project.store
    asked = asked_of(project, encoder, batch_size=batch_size, probe=probe, seed=seed)
    require_not_chosen(project, asked, now=now)
    query_rows = to_search(project, batch_size)
    if not 0 <= probe <= len(query_rows):
        raise ProjectError(
            said("--probe is {probe}: write 0 to {n}, the number of queries to grade", probe=probe, n=len(query_rows))
        )
    encoder = encoder or load_encoder(project, where)
    unread: list[str] = []
    candidates, split_ties = search(project, encoder, query_rows, MAX_CANDIDATES, unread=unread, progress=progress)
    probes = _probes(project, encoder, query_rows, probe, seed, progress=progress)
    with writing(store) as db:
        require_not_chosen(project, asked, now=now)  # here, because another process may have made some in the meantime
        if batch_size is not None:
            project_rows.set_batch_size(db, batch_size)
        campaign = project_rows.campaign(db)
        candidates_rows.add_candidates(db, candidates, encoder.identity, at=now, by=by.annotator_id)
        pairs = sum(
            candidates_rows.open_batch(db, campaign, query.query_id, 1, at=now, by=None) for query in query_rows
        )
        probe_pairs = sum(
            candidates_rows.open_probe(db, campaign, query_id, rows, at=now) for query_id, rows in probes.items()
        )
        payload = {"encoder": encoder.identity, "queries": len(query_rows), "candidates": len(candidates)}
        if probe:
            payload |= {"probed": probe, "probe_pairs": probe_pairs, "seed": seed}
        events.note(db, CANDIDATES_CHOSEN, by, "candidates", now=now, asked=asked, **payload)
    without_file = len(corpus.videos_without_file(store.db))
    return CandidateReport(
        *(
            len(query_rows),
            len(candidates),
            pairs,
            encoder.identity,
            split_ties,
            without_file,
            len(probes),
            probe_pairs,
        ),
        unread=tuple(unread),
    )


def asked_of(project: Project, encoder: Encoder | None, **arguments: object) -> str:
    """Return a digest of what candidates are asked for: the encoder, or else that of the settings, and the rest."""
    chosen = project.settings
    names = [chosen.encoder, chosen.encoder_kind, chosen.encoder_dtype] if encoder is None else [encoder.identity]
    return events.asked(encoder=names, **arguments)


def require_not_chosen(project: Project, asked: str, *, now: float) -> None:
    """Refuse to choose candidates once there are some.

    Raises:
        AlreadyDone: they are those that are asked for.
        ProjectError: they are others.
    """
    if queries.any_list(project.store.db):
        events.refuse_if_done(
            project.store.db, CANDIDATES_CHOSEN, now=now, undone_by=(QUERIES_TAKEN_BACK, CANDIDATES_ADDED), asked=asked
        )
    require_no_lists(project)


def to_judge(project: Project, batch_size: int | None) -> list[QueryRow]:
    """Return the validation and test queries, for which candidates are chosen, in judging order.

    Raises:
        ProjectError: there are no queries yet, or a batch cannot have this size.
    """
    if batch_size is not None and not 1 <= batch_size <= MAX_CANDIDATES:
        raise ProjectError(
            said("a batch has 1 to {most} candidates, not {batch_size}", most=MAX_CANDIDATES, batch_size=batch_size)
        )
    asked = queries.query_rows(project.store.db, (Split.VAL, Split.TEST))
    if not asked:
        _, moments, captions = corpus.counts(project.store.db)
        step = steps.drawing if captions else steps.bringing if moments else steps.importing
        raise ProjectError(said("there are no queries yet: run `{command}` first", command=step(project.folder)))
    return asked


def to_search(project: Project, batch_size: int | None) -> list[QueryRow]:
    """Return the validation and test queries in judging order, or refuse a project in which no moment has a caption.

    Captions are needed because candidates are found by them.

    Raises:
        ProjectError: there are no queries yet, a batch cannot have this size, or no moment has a caption.
    """
    asked = to_judge(project, batch_size)
    if not corpus.counts(project.store.db)[2]:
        raise ProjectError(
            said(
                "no moment has a caption to find candidates by: let people describe moments first, or "
                "pool runs of systems with `{command}`",
                command=steps.pooling(project.folder),
            )
        )
    return asked


def _probes(
    project: Project, encoder: Encoder, asked: list[QueryRow], count: int, seed: int, *, progress: Progress | None
) -> dict[QueryId, list[CandidateRow]]:
    """Draw `count` queries, and return for each the moments of its probe, with their ranks among all moments.

    A probe is a sample of moments that is graded to learn how deep judging must go.
    """
    _, moments, _ = corpus.counts(project.store.db)
    chosen = model.probed([query.text for query in asked], count, seed)
    queries_probed = [query for query in asked if query.text in chosen]
    report = steps_of(progress, said("ranking for the probes"))
    probes: dict[QueryId, list[CandidateRow]] = {}
    for start in range(0, count, _PROBED_AT_ONCE):
        some = queries_probed[start : start + _PROBED_AT_ONCE]
        ranked, _ = search(project, encoder, some, moments)
        for query in some:
            own = [row for row in ranked if row.query_id == query.query_id]
            probes[query.query_id] = model.probe(own, query.text, seed)
        if report:
            report(len(probes), count)
    return probes


def search(
    project: Project,
    encoder: Encoder,
    asked: list[QueryRow],
    k: int,
    *,
    unread: list[str] | None = None,
    progress: Progress | None = None,
) -> tuple[list[CandidateRow], int]:
    """Return the k most similar moments of each query, by the similarity of query and caption.

    For each kind of text that the encoder does not read, a sentence is added to the list `unread`.

    Returns:
        The candidates by query and rank, and the number of queries whose last candidate has the same text as a moment
        that was left out.
    """
    rows: list[CandidateRow] = []
    split_ties = 0
    for block, rankings, caption_moments in search_by_block(
        project, encoder, asked, k, unread=unread, progress=progress
    ):
        for query, chosen in zip(block, rankings, strict=True):
            rows += [CandidateRow(query.query_id, c.rank, MomentId(c.moment_id), c.similarity) for c in chosen]
            split_ties += left_out(chosen, caption_moments) > 0
    return rows, split_ties


def search_by_block(
    project: Project,
    encoder: Encoder,
    asked: Sequence[QueryRow],
    k: int,
    *,
    unread: list[str] | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Sequence[QueryRow], Ranking, list[list[int]]]]:
    """Find the k most similar moments of each query by caption, a block of queries at a time, to save memory.

    Arguments are those of `search`.

    Yields:
        (queries of the block, their best captions with ranks and similarities, the moment ids of each searched
        caption).
    """
    captions = captions_rows.searchable_captions(project.store.db)
    moments_of: dict[str, list[int]] = {}
    for caption in captions:
        moments_of.setdefault(caption.text.strip(), []).append(caption.moment_id)
    texts = sorted(moments_of)
    caption_moments = [moments_of[text] for text in texts]
    # Most training queries are captions: a text that is both has one vector.
    others = sorted({query.text for query in asked} - moments_of.keys())
    row_of = {text: row for row, text in enumerate([*texts, *others])}
    report = steps_of(progress, said("encoding captions and queries"))
    vectors = encode_cached(encoder, [*texts, *others], project.embeddings, progress=report)
    if unread is not None:
        stands = {query.text: number for number, query in enumerate(asked, start=1 << 62)}
        stands |= {text: moments[0] for text, moments in moments_of.items()}
        unread += find_unread(encoder, [*texts, *others], vectors, place=stands.__getitem__).sentences
    searched = Captions(vectors[: len(texts)], caption_moments, queries=len(asked))
    searching = steps_of(progress, said("searching"))
    for start in range(0, len(asked), QUERIES_AT_ONCE):
        block = asked[start : start + QUERIES_AT_ONCE]
        rows = [row_of[query.text] for query in block]
        yield block, searched.top(vectors[rows], k), caption_moments
        if searching:
            searching(start + len(block), len(asked))
