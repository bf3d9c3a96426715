"""Freeze a release: graded truth, pseudo training sets, raw annotations and a manifest with hashes.

*Reads* everything. *Writes* one folder (complete or not at all), a release row and an event.

Names of people never leave the project: raw annotations carry their numbers.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from backend import __version__
from backend.campaign.candidates import pseudo_train
from backend.campaign.captions.rows import rewrites
from backend.campaign.captions.rules.differences import RewriteSummary, summary
from backend.campaign.corpus import rows as corpus
from backend.campaign.judging.rows import judgements
from backend.campaign.judging.rules import RULE_VERSION
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.project import rows as facts
from backend.campaign.project.folder import CACHE_FOLDER, DATABASE_FILE, Project
from backend.campaign.queries import rows as queries
from backend.campaign.release import rows as releases
from backend.campaign.release.card import REPLACEMENTS, card
from backend.campaign.review import status
from backend.campaign.review.model import PairReview
from backend.campaign.review.rows import reviews
from backend.encoders.sentence import Encoder
from backend.ground.arriving import new_files, new_folder, require_new_file, require_new_folder
from backend.ground.errors import ProjectError
from backend.ground.ids import QueryId
from backend.ground.progress import Progress
from backend.ground.text_files import csv_text
from backend.store import events
from backend.store.connection import reading, writing
from backend.store.events import EventKind

PAIR_COLUMNS = (
    *("pair_id", "query_id", "split", "query", "video_name", "start", "end", "duration", "caption"),
    *("rank", "similarity", "verdict", "relevance", "mean"),
)
RAW_COLUMNS = (
    *("pair_id", "worker", "relevance", "round", "graded_at", "active_ms", "elapsed_ms", "contexts", "simulated"),
    "adjudicated",
)


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """What a release holds. `left_out` are validation and test queries without any settled pair."""

    folder: Path
    files: tuple[str, ...]
    val_queries: int
    test_queries: int
    moments: int
    left_out: int
    unsettled: int
    simulated: int


def require_ready(project: Project, out: Path) -> None:
    """Refuse what would end in nothing, before the work, which takes minutes.

    Raises:
        ProjectError: nothing is settled yet, or `out` cannot become a new folder.
    """
    place, home = out.resolve(), project.folder.resolve()
    first = place.relative_to(home).parts[:1] if place.is_relative_to(home) else ()
    if first and (first[0] == CACHE_FOLDER or first[0].startswith(DATABASE_FILE)):
        raise ProjectError(f"{out} is the project's own place: name a folder outside of it")
    require_new_folder(out)
    if not any(reviews.any_settled(project.store.db, split) for split in (Split.VAL, Split.TEST)):
        raise ProjectError("no pair is settled yet: a release needs at least one relevance")


def export_tvr_ranking(
    project: Project,
    by: Lead | Operator,
    encoder: Encoder,
    out: Path,
    *,
    with_published: bool = False,
    now: float,
    progress: Progress | None = None,
) -> ReleaseReport:
    """Write a release in the form of TVR-Ranking.

    Captions in it are imprecise ones, if captions were rewritten at all.

    Args:
        project: the project.
        by: who asks for it.
        encoder: the encoder of the candidate lists, for the pseudo training sets.
        out: folder to make; it must not exist, or be empty.
        with_published: whether the published captions go with it, in a field of their own.
        now: seconds since 1970, written into the manifest.
        progress: called with (what is done, done, all).

    Raises:
        ProjectError: see `require_ready`.
    """
    require_ready(project, out)
    with new_folder(out) as part:
        # Before the snapshot of the judgements, because this may take long.
        pseudo_train.write(project, encoder, part, pseudo_train.TOPS, with_published=with_published, progress=progress)
        report, manifest = _fill(project, out, part, with_published, now)
    digest = hashlib.sha256(manifest).hexdigest()
    with writing(project.store) as db:
        releases.add(db, manifest.decode(), digest, at=now, by=by.annotator_id)
        events.record(
            db,
            EventKind.RELEASED,
            at=now,
            actor=by.annotator_id,
            subject=f"release:{digest[:12]}",
            payload={"sha256": digest},
        )
    return report


def _fill(project: Project, out: Path, part: Path, with_published: bool, now: float) -> tuple[ReleaseReport, bytes]:
    """Write into `part`, which is to become `out`, what a release has beside the training sets that lie there.

    Returns:
        What the release holds, and its manifest.
    """
    with reading(project.store) as db:
        settled = reviews.settled_pairs(db)
        all_pairs = reviews.all_pairs(db)
        decided = judgements.all_adjudicated(db)
        standing = [(*row, decided.get(row[0], "")) for row in judgements.released_standing(db)]
        asked = queries.query_rows(db, (Split.VAL, Split.TEST))
        moments = pseudo_train.moment_documents(project, with_published=with_published)
        rewritten = rewrites.released_captions(db) is not None
        changes = summary(rewrites.accepted_texts(db))
        durations = corpus.video_durations(db)
        counts = status.counts(project, probes=False)
        grading = facts.grading(db)
        under = releases.grades_by_guideline(db)
    by_span = {(moment["video_name"], *moment["timestamp"]): moment for moment in moments.values()}
    by_query: dict[QueryId, list[PairReview]] = {}
    for pair in settled:
        by_query.setdefault(pair.query_id, []).append(pair)
    truth: dict[Split, list[dict[str, Any]]] = {Split.VAL: [], Split.TEST: []}
    for query in asked:
        if query.query_id in by_query:
            truth[query.split].append(
                {
                    "query_id": query.query_id,
                    "query": query.text,
                    "relevant_moment": [
                        {
                            "pair_id": pair.pair_id,
                            **by_span[pair.video, pair.start_s, pair.end_s],
                            "similarity": round(pair.similarity, 6),
                            "relevance": pair.relevance,
                        }
                        for pair in by_query[query.query_id]
                    ],
                }
            )
    files: dict[str, bytes] = {f"{split.value}.json": _json(documents) for split, documents in truth.items()}
    files["video_corpus.json"] = _json(
        {name: [duration_s, index] for index, (name, duration_s) in enumerate(sorted(durations.items()))}
    )
    files["raw_annotation.csv"] = csv_text(RAW_COLUMNS, standing).encode()
    splits = {query.query_id: query.split for query in asked}
    columns = (*PAIR_COLUMNS, *(("published_caption",) if with_published else ()))
    files["raw_query_moment_pair.csv"] = csv_text(
        columns, _pair_rows(all_pairs, splits, by_span, with_published)
    ).encode()
    without_caption = sum(not moment["caption"] for moment in moments.values())
    files["README.md"] = card(
        project.name, grading, counts, truth, len(settled), changes if rewritten else None, without_caption, under
    ).encode()
    for name, data in files.items():
        (part / name).write_bytes(data)
    manifest = {
        "name": project.name,
        "format": "tvr-ranking",
        "created_at": _instant(now),
        "reelrank": __version__,
        "schema": counts["schema"],
        "rule_version": RULE_VERSION,
        "scale": [{"grade": one.grade, "label": one.label} for one in grading.scale.meanings],
        "tolerance": grading.tolerance,
        "rounding": grading.rounding.value,
        "guideline": {"version": max(under), "grades_by_version": under},
        "encoder": counts["encoder"],
        "counts": counts,
        "captions": "imprecise" if rewritten else "published",
        "published_captions": with_published or not rewritten,
        "moments_without_caption": without_caption,
        **({"rewriting": _changes(changes)} if rewritten else {}),
        "simulated_judgements": counts["simulated"],
        "queries_without_settled_pair": [q.query_id for q in asked if q.query_id not in by_query],
        "files": {file.name: _sha256(file) for file in sorted(part.iterdir())},
    }
    data = _json(manifest)
    (part / "manifest.json").write_bytes(data)
    report = ReleaseReport(
        folder=out,
        files=tuple(sorted(file.name for file in part.iterdir())),
        val_queries=len(truth[Split.VAL]),
        test_queries=len(truth[Split.TEST]),
        moments=len(settled),
        left_out=len(asked) - len(by_query),
        unsettled=sum(counts["pairs"][state] for state in ("open", "escalated", "set_aside")),
        simulated=counts["simulated"],
    )
    return report, data


def write_training_sets(
    project: Project,
    encoder: Encoder,
    out: Path,
    tops: Sequence[int],
    *,
    progress: Progress | None = None,
) -> list[Path]:
    """Write only the pseudo training sets, one `train_topNN.json` a size; the files written.

    Raises:
        ProjectError: there are no training queries, or a file exists already.
    """
    require_new_sets(out, tops)
    counts = queries.split_counts(project.store.db)
    if not any(counts.values()):
        raise ProjectError(f"there are no queries yet: run `{status.next_step(project)}` first")
    if not counts[Split.TRAIN.value]:
        raise ProjectError("there are no training queries: every caption was drawn for validation or test")
    with new_files(out) as part:
        pseudo_train.write(project, encoder, part, tops, progress=progress)
    return [out / pseudo_train.file_of(top) for top in tops]


def require_new_sets(out: Path, tops: Sequence[int]) -> None:
    """Refuse, before the work, to write training sets over others, or where nothing can be written.

    Raises:
        ProjectError: a file is there, or none can be made.
    """
    for top in tops:
        require_new_file(out / pseudo_train.file_of(top))


def _pair_rows(
    pairs: list[PairReview],
    splits: dict[QueryId, Split],
    moments: dict[tuple[str, float, float], dict[str, Any]],
    with_published: bool,
) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for p in pairs:
        moment = moments[p.video, p.start_s, p.end_s]
        rows.append(
            (
                *(p.pair_id, p.query_id, splits[p.query_id].value, p.query, p.video, p.start_s, p.end_s),
                *(moment["duration"], moment["caption"], p.rank, round(p.similarity, 6)),
                *(p.verdict.value, p.relevance, p.mean),
                *((moment["published_caption"],) if with_published else ()),
            )
        )
    return rows


def _changes(changes: RewriteSummary) -> dict[str, Any]:
    """What rewriting did, with as many replacement words as a reader may want."""
    return {**asdict(changes), "replacements": dict(changes.replacements[:REPLACEMENTS])}


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _instant(at: float) -> str:
    """UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
