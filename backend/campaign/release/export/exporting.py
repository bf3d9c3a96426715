"""Export the content of a release in the formats of TREC, Parquet or QVHighlights.

*Reads* everything that a release holds. *Writes* one folder (complete or not at all), and nothing in the project: only
releases in the format of TVR-Ranking are stored, named and compared.

TREC ranks documents, not moments, so each pair of a query and a moment is a document. The command `reelrank match-run`
converts a run for it: each prediction becomes the pair that it matches at one IoU threshold.

QVHighlights asks each query of one video and has no grades, so a moment becomes a window if its relevance reaches a
threshold. There are no saliency scores, because nobody graded clips of two seconds here.

With Parquet, `README.md` begins with YAML for Hugging Face.
"""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from backend import __version__
from backend.campaign.judging.rules import RULE_VERSION
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.export.freezing import MANIFEST, json_of, read, require_ready
from backend.campaign.release.export.front_matter import front_matter
from backend.campaign.release.export.kept_releases import file_sha256
from backend.campaign.release.export.model import (
    Contents,
    ReleaseForm,
    ReleaseOptions,
    ReleaseSelection,
    ReleaseTable,
)
from backend.campaign.release.export.rules.documents import manifest, statistics_documents
from backend.campaign.release.export.rules.statistics import statistics
from backend.campaign.selection.candidates import pseudo_train
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.atomic_output import new_folder, refuse_if_same
from backend.core.errors import ProjectError
from backend.core.progress import Progress
from backend.core.release_entries import training_file
from backend.core.text_files import csv_text
from backend.encoders.sentence import Encoder

TREC_TEXT = """`val.qrels` and `test.qrels` have a line `query 0 pair relevance` for each graded moment, as trec_eval,
pytrec_eval and ir_measures read it; `val.csv` and `test.csv` say what each pair is
(`pair_id,query_id,video,start,end,relevance`), and `queries.tsv` the text of each query.

To score a run, give its predictions the pairs that they take, at one IoU threshold:

    reelrank match-run --truth val.csv --run mine.json --mu 0.5 mine.trec
    ir_measures val.qrels mine.trec nDCG@10 nDCG@20 nDCG@40

That is NDCG@K, IoU>=0.5 of TVR-Ranking, as `reelrank evaluate` computes it in preset `paper`.
"""
TREC_COLUMNS = ("pair_id", "query_id", "video", "start", "end", "relevance")


def trec_files(contents: Contents) -> dict[str, bytes]:
    """Return the files of an export for TREC tools, by name."""
    files: dict[str, bytes] = {}
    texts: list[str] = []
    for split in (Split.VAL, Split.TEST):
        lines: list[str] = []
        rows: list[tuple[object, ...]] = []
        for query in contents.truth[split]:
            number = query["query_id"]
            texts.append(f"{number}\t{' '.join(query['query'].split())}\n")
            for moment in query["relevant_moment"]:
                lines.append(f"{number} 0 {moment['pair_id']} {moment['relevance']}\n")
                span = (moment["video_name"], *moment["timestamp"])
                rows.append((moment["pair_id"], number, *span, moment["relevance"]))
        files[f"{split.value}.qrels"] = "".join(lines).encode()
        files[f"{split.value}.csv"] = csv_text(TREC_COLUMNS, rows).encode()
    return {**files, "queries.tsv": "".join(texts).encode()}


QVHIGHLIGHTS_TEXT = """\
`val.jsonl` and `test.jsonl` have a line for each query and each video in which a moment of relevance
{threshold} or more was found: `qid`, `query`, `vid`, `duration` and `relevant_windows` in seconds, as QVHighlights has
them. `qid` is the number of the line's first pair, because one query is asked of several videos; `of_query`, and for
each window `pair_ids` and `relevances`, lead back to the release. Windows may overlap. There are no `saliency_scores`
and no `relevant_clip_ids`: nobody graded clips of two seconds. Of {queries:,} queries {without:,} have no such moment,
and no line.
"""


def qvhighlights_files(contents: Contents, threshold: int) -> dict[str, bytes]:
    """Return the files of an export in the format of QVHighlights, by name.

    A query's moments of relevance `threshold` or more become its windows, which are its relevant spans of video.
    """
    return {
        f"{split.value}.jsonl": b"".join(
            msgspec.json.encode(line) + b"\n"
            for query in contents.truth[split]
            for line in windows_by_video(query, threshold)
        )
        for split in (Split.VAL, Split.TEST)
    }


def windows_by_video(query: dict[str, Any], threshold: int) -> list[dict[str, Any]]:
    """Return the lines of a query in the format of QVHighlights: one per video that has relevant moments.

    A moment is relevant, and becomes a window, from relevance `threshold` on. Lines are ordered by the rank of their
    first window, and windows by start. `qid` is the id of the line's best-ranked pair.

    >>> moments = [{"pair_id": n, "video_name": video, "timestamp": [n, n + 2], "duration": 9.0, "relevance": grade}
    ...            for n, (video, grade) in enumerate([("a", 3), ("b", 4), ("a", 4), ("a", 1)])]
    >>> for line in windows_by_video({"query_id": 7, "query": "a dog", "relevant_moment": moments}, 3):
    ...     print(line["qid"], line["vid"], line["relevant_windows"], line["relevances"])
    0 a [[0, 2], [2, 4]] [3, 4]
    1 b [[1, 3]] [4]
    """
    relevant = [moment for moment in query["relevant_moment"] if moment["relevance"] >= threshold]
    first: dict[str, int] = {}
    for moment in relevant:
        first.setdefault(moment["video_name"], moment["pair_id"])
    place = {video: n for n, video in enumerate(first)}
    relevant.sort(key=lambda moment: (place[moment["video_name"]], moment["timestamp"], moment["pair_id"]))
    lines = []
    for video, group in groupby(relevant, key=lambda moment: moment["video_name"]):
        windows = list(group)
        lines.append(
            {
                "qid": first[video],
                "query": query["query"],
                "duration": windows[0]["duration"],
                "vid": video,
                "relevant_windows": [moment["timestamp"] for moment in windows],
                "of_query": query["query_id"],
                "pair_ids": [moment["pair_id"] for moment in windows],
                "relevances": [moment["relevance"] for moment in windows],
            }
        )
    return lines


def qvhighlights_text(contents: Contents, threshold: int) -> str:
    """Return the part of an export's `README.md` that explains the files in the format of QVHighlights."""
    queries = [query for documents in contents.truth.values() for query in documents]
    without = sum(not windows_by_video(query, threshold) for query in queries)
    return QVHIGHLIGHTS_TEXT.format(threshold=threshold, queries=len(queries), without=without)


PARQUET_TEXT = """\
Each table holds what the file of its name holds in a release in the form of TVR-Ranking: `truth` the graded
moments of each query, `train_top01`, `train_top20` and `train_top40` the most similar moments of each training query
with the similarity as weight, `grades` every grade that counts, `pairs` every pair that was judged, `videos` their
durations.

    from datasets import load_dataset
    truth = load_dataset("path/to/this/folder", "truth")
"""


def form_card(contents: Contents, form: str, explanation: str, tables: Sequence[ReleaseTable]) -> str:
    """Return the text of an export's `README.md`.

    Args:
        contents: content of the release.
        form: name of the format.
        explanation: text that explains the files of this format.
        tables: the tables of a Parquet export, which are described in YAML at the start; empty for other formats.
    """
    counts, terms, selection = contents.counts, contents.terms, contents.selection
    simulated = (
        f"\n> **Simulated judgements.** {counts['simulated']} of the {counts['judgements']} grades were made up by "
        "the demo, not given by people. Do not use this as ground truth.\n"
        if counts["simulated"]
        else ""
    )
    licence = f"\nLicence: {terms.licence}\n" if terms.licence else ""
    citation = f"\n## Citation\n\n```\n{terms.citation}\n```\n" if terms.citation else ""
    text = f"""# {contents.name}: graded ground truth for ranked video moment retrieval, as {form}
{simulated}
Made with ReelRank {__version__}. Candidates chosen by {contents.chosen_by}; consensus rule `{RULE_VERSION}`.
{licence}
| | |
| --- | ---: |
| validation queries | {len(contents.truth[Split.VAL])} |
| test queries | {len(contents.truth[Split.TEST])} |
| pairs with a relevance | {selection.moments} |
| of them decided by a lead | {selection.adjudicated} |
| grades | {counts["judgements"]} |

{explanation}
`manifest.json` has the settings, the counts and the SHA-256 of each file.
{citation}"""
    return front_matter(contents, tables) + text if tables else text


@dataclass(frozen=True, slots=True)
class FormReport:
    """A summary of an export in another format than TVR-Ranking's.

    `place` is the folder. `simulated` counts grades that a demo made up. `windows` counts the moments whose relevance
    reaches `threshold`; both are None except for QVHighlights.
    """

    place: Path
    sha256: str
    """SHA-256 of the manifest, which holds those of all other files."""
    files: tuple[str, ...]
    selection: ReleaseSelection
    simulated: int
    threshold: int | None
    windows: int | None


@in_charge
def export_form(
    project: Project,
    by: Lead | Operator,
    out: Path,
    form: str,
    options: ReleaseOptions | None = None,
    *,
    threshold: int | None = None,
    progress: Progress | None = None,
) -> FormReport:
    """Write the queries, moments and relevances of a release in the format of TREC, Parquet or QVHighlights.

    Args:
        project: the project.
        by: the person who asks for it.
        out: folder to make; it must not exist, or be empty.
        form: `trec`, `parquet` or `qvhighlights`.
        options: what the release includes.
        threshold: for QVHighlights: the relevance from which a moment counts as relevant; None takes the second-best
            grade, but at least 1.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        AlreadyDone: the folder has exactly these files already.
        ProjectError: no query can be released, the folder cannot be made, or the threshold is not a relevance above 0.
        EncoderUnavailable: the encoder of the candidate lists, which Parquet needs, cannot be found.
    """
    form, options = ReleaseForm(form), options or ReleaseOptions()
    require_ready(project, by, options, out)  # before the encoder is loaded
    encoder = pseudo_train.training_encoder(project) if form is ReleaseForm.PARQUET else None
    level = _level(project, form, threshold)
    with new_folder(out, unless_has=MANIFEST) as part:
        sizes = _training(project, encoder, part, options, progress) if form is ReleaseForm.PARQUET else {}
        contents = read(project, options)
        files: dict[str, bytes] = {}
        tables: list[ReleaseTable] = []
        if form is ReleaseForm.TREC:
            files, explanation = trec_files(contents), TREC_TEXT
        elif form is ReleaseForm.QVHIGHLIGHTS:
            files, explanation = qvhighlights_files(contents, level), qvhighlights_text(contents, level)
        else:
            from backend.campaign.release.export import parquet  # Arrow, which the other forms do not need

            tables = parquet.write(contents, sizes, part)
            shutil.rmtree(part / _TRAINING)
            explanation = PARQUET_TEXT
        for name, data in {**files, "README.md": form_card(contents, form.value, explanation, tables).encode()}.items():
            (part / name).write_bytes(data)
        frozen = _manifest(contents, form, level, part)
        (part / MANIFEST).write_bytes(frozen)
        if out.exists():
            refuse_if_same(part, out)
        names = tuple(sorted(file.relative_to(part).as_posix() for file in part.rglob("*") if file.is_file()))
    graded = (
        moment for documents in contents.truth.values() for query in documents for moment in query["relevant_moment"]
    )
    has_windows = form is ReleaseForm.QVHIGHLIGHTS
    return FormReport(
        place=out,
        sha256=hashlib.sha256(frozen).hexdigest(),
        files=names,
        selection=contents.selection,
        simulated=contents.counts["simulated"],
        threshold=level if has_windows else None,
        windows=sum(moment["relevance"] >= level for moment in graded) if has_windows else None,
    )


_TRAINING = "training"
"""Temporary folder of the training sets in JSON, until they are written as tables."""


def _level(project: Project, form: ReleaseForm, threshold: int | None) -> int:
    scale = project.campaign.scale
    if threshold is None:
        return max(1, scale.highest - 1)  # the best two grades, but never 0
    if form is not ReleaseForm.QVHIGHLIGHTS:
        raise ProjectError(f"only qvhighlights takes a threshold: {form.value} has every relevance")
    if threshold not in range(1, scale.highest + 1):
        raise ProjectError(f"{threshold} is not a relevance above 0: choose 1 to {scale.highest}")
    return threshold


def _training(
    project: Project, encoder: Encoder | None, part: Path, options: ReleaseOptions, progress: Progress | None
) -> dict[int, Path]:
    """Write the training sets as JSON into a temporary folder, and return their files by size.

    The size is how many moments each query has.
    """
    folder = part / _TRAINING
    folder.mkdir()
    published = options.with_published
    pseudo_train.write(project, encoder, folder, pseudo_train.TOPS, with_published=published, progress=progress)
    return {top: folder / training_file(top) for top in pseudo_train.TOPS}


def _manifest(contents: Contents, form: ReleaseForm, level: int, part: Path) -> bytes:
    """Return the manifest of an export, with the format and the SHA-256 of each file in the folder `part`.

    `level` is the relevance from which a moment counts as relevant; only the format of QVHighlights uses it.
    """
    files = sorted(path for path in part.rglob("*") if path.is_file())
    hashes = {file.relative_to(part).as_posix(): file_sha256(file) for file in files}
    document = manifest(contents, statistics(statistics_documents(contents)), hashes)
    document["format"] = form.value
    if form is ReleaseForm.QVHIGHLIGHTS:
        document["threshold"] = level
    return json_of(document)
