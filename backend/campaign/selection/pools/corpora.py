"""Build pools from the captions of a project, or from an annotation file without a project.

*Reads* captions, moments and videos of a project, or an annotation file. If EMScore (similarity of text and video
frames) decides too, also reads video files and cached vectors of their frames. *Writes* what `building` writes, and the
cache of frame vectors.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.pools.annotations import PUBLISHED, read_corpus
from backend.campaign.selection.pools.building import BuildReport, build, require_valid
from backend.campaign.selection.pools.files import read_thresholds
from backend.campaign.selection.pools.model import CaptionedCorpus, PoolOptions, VisualOptions
from backend.campaign.selection.pools.rules import Doubles, EmScorer, Numbers
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import encoder_spec
from backend.core.atomic_output import require_new_folder
from backend.core.errors import InputError, Problem, ProjectError, VideoUnreadable
from backend.core.progress import Progress, steps_of
from backend.core.where import HERE, Where, placed
from backend.encoders import cache, sentence
from backend.encoders.clip import CLIP_NAME, Clip, load_clip
from backend.encoders.emscore import FrameVectors, Idf, SentenceVectors, idf, score
from backend.media.frames import keep_frames, vectors_of
from backend.media.sources import Source
from backend.media.video_folder import VideoFolder
from backend.scoring.pools.checking import PAST_END_S
from backend.scoring.pools.model import PoolMoment
from backend.store.connection import reading


@dataclass(frozen=True, slots=True)
class VideoScores:
    """The source of EMScores, which tell how similar a sentence of a corpus is to the frames of a video under CLIP.

    Videos are numbered in order of name.
    """

    identity: str
    _frames: FrameVectors
    _sentences: Mapping[str, SentenceVectors]
    _weights: Idf

    def scorer(self, text: str) -> EmScorer:
        """Return a function that takes the numbers of videos and returns their EMScores with a sentence of the corpus.

        It is the full EMScore, which combines a coarse part (sentence and video) and a fine part (words and frames).
        """
        sentence = self._sentences[text]

        def emscore(videos: Numbers, *, weighted: bool) -> Doubles:
            return score(sentence, self._frames.some(videos), self._weights if weighted else None).full_f

        return emscore


def encode_corpus(
    corpus: CaptionedCorpus,
    files: Mapping[str, Source],
    clip: Clip,
    embeddings: Path,
    *,
    per_s: float,
    progress: Progress | None = None,
) -> VideoScores:
    """Encode the sentences and videos of a corpus by CLIP, so that EMScore (their similarity) can be computed.

    Args:
        corpus: the corpus; the IDF weights count each of its sentences as one document.
        files: maps each of its videos to its source.
        clip: the CLIP model.
        embeddings: the folder in which vectors of frames are cached.
        per_s: frames a second.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: names every video that cannot be read.
        EncoderUnavailable: the model cannot be built.
    """
    texts = [moment.sentence for moments in corpus.moments.values() for moment in moments]
    sentences = clip.sentences(texts, progress=steps_of(progress, "encoding sentences by CLIP"))
    keep_frames(clip, files.values(), embeddings, per_s=per_s, progress=steps_of(progress, "encoding frames"))
    steps = steps_of(progress, "looking at videos")
    frames = []
    problems = []
    for done, name in enumerate(sorted(corpus.moments), start=1):
        try:
            frames.append(vectors_of(clip, files[name], per_s, embeddings))
        except VideoUnreadable as error:
            problems.append(Problem(corpus.source, None, f"video {name}: {error}"))
        if steps:
            steps(done, len(corpus.moments))
    if problems:
        raise InputError(problems)
    weights = idf(sentences[text].tokens for text in texts)
    return VideoScores(f"{clip.identity} frames={per_s:g}/s", FrameVectors.of(frames), sentences, weights)


def find_video_files(folder: Path, corpus: CaptionedCorpus) -> dict[str, Path]:
    """Find the file of every video of a corpus in a folder, by the name of the video.

    Raises:
        InputError: names every video without a file.
    """
    videos = VideoFolder(folder)
    files: dict[str, Path] = {}
    problems = []
    for name in corpus.moments:
        try:
            files[name] = videos.find(name)
        except VideoUnreadable as error:
            problems.append(Problem(corpus.source, None, str(error)))
    if problems:
        raise InputError(problems)
    return files


@in_charge
def build_pools(
    project: Project,
    by: Lead | Operator,
    out: Path,
    options: PoolOptions,
    *,
    thresholds: Path | None = None,
    looks: VisualOptions | None = None,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> BuildReport:
    """Build a pool for every caption of a project into a new folder, with the project's encoder.

    Args:
        project: the project.
        by: the person who builds them.
        out: the folder to make.
        options: sizes, thresholds and seed.
        thresholds: a file from `calibrate_thresholds`; its thresholds replace those of the options.
        looks: options for EMScore on the videos; if None, the text alone decides.
        where: where sentences and frames are encoded.
        now: seconds since 1970, written into the manifest.
        progress: called with (name of the step, number done, number of all).

    Raises:
        ProjectError: an option is out of range, the folder is not new, or there are not enough videos.
        InputError: the file of thresholds is invalid, or a video cannot be read.
        EncoderUnavailable: the encoder or the CLIP model cannot be found or built.
    """
    corpus = _project_corpus(project)
    files = _video_files(project, sorted(corpus.moments)) if looks else {}
    cache_folder = project.embeddings
    return _build(
        corpus, files, encoder_spec(project), out, options, thresholds, looks, cache_folder, where, now, progress
    )


def build_pools_from_file(
    file: Path,
    out: Path,
    options: PoolOptions,
    *,
    thresholds: Path | None = None,
    looks: VisualOptions | None = None,
    videos: Path | None = None,
    encoder: str | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> BuildReport:
    """Build a pool for every sentence of an annotation file, without a project.

    Args:
        file: the annotation file; a file of pools is one, too.
        out: the folder to make.
        options: sizes, thresholds and seed.
        thresholds: a file from `calibrate_thresholds`; its thresholds replace those of the options.
        looks: options for EMScore on the videos; if None, the text alone decides.
        videos: the folder of the videos; needed if `looks` is given.
        encoder: name of the encoder, as in a project's settings; None is SimCSE from the model hub.
        kind: kind of the encoder that `encoder` names.
        embeddings: the folder in which vectors are cached; None is the user's cache folder.
        format: format of the file; None detects it from the content.
        types: of a TVR file, the types of query to keep; None for those that the TVR-Ranking paper keeps.
        columns: maps ReelRank's field names to the file's columns or fields: `{"start": "begin"}`.
        where: where sentences and frames are encoded.
        now: seconds since 1970, written into the manifest.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: the file has problems, one of its videos has no duration, or `videos` is missing.
    """
    corpus = read_corpus(file, format, ImportOptions(types, columns or {}))
    if looks and videos is None:
        raise InputError.single(file, "does not tell where its videos are: name their folder with --videos")
    files = find_video_files(videos, corpus) if looks and videos else {}
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    cache_folder = embeddings or cache.shared_folder()
    return _build(corpus, files, spec, out, options, thresholds, looks, cache_folder, where, now, progress)


def _project_corpus(project: Project) -> CaptionedCorpus:
    """Read the searchable captions of a project, each as a sentence of its video, in the order of caption ids.

    If a moment has an accepted rewritten caption (without names), that is used, otherwise its published caption.

    Raises:
        ProjectError: the project has no captions.
    """
    with reading(project.store) as db:
        captions = rows.searchable_captions(db)
        imprecise = {caption.caption_id for caption in rows.rewritten_captions(db)}
        details = corpus_rows.moment_details(db)
        durations = corpus_rows.video_durations(db)
    if not captions:
        raise ProjectError(f"there are no captions yet: run `{steps.importing(project.folder)}` first")
    moments: dict[str, list[PoolMoment]] = {}
    for caption in captions:
        moment = details[caption.moment_id]
        end_s = min(moment.end_s, moment.duration_s + PAST_END_S)
        moments.setdefault(moment.video, []).append(
            PoolMoment(moment.video, moment.start_s, end_s, caption.text.strip())
        )
    count = len(imprecise & {caption.caption_id for caption in captions})
    description = f"{count:,} imprecise, {len(captions) - count:,} {PUBLISHED}" if count else PUBLISHED
    return CaptionedCorpus(project.name, description, moments, {name: durations[name] for name in moments})


@in_charge
def has_video_files(project: Project, by: Lead | Operator) -> bool:
    """Return whether the file of every video of a project is known, so that EMScore can compare them."""
    with reading(project.store) as db:
        return corpus_rows.counts(db)[0] > 0 and not corpus_rows.videos_without_file(db)


def _video_files(project: Project, names: list[str]) -> dict[str, Source]:
    """Map the names of videos to their files or other sources.

    Raises:
        ProjectError: the files of some videos are not known.
    """
    with reading(project.store) as db:
        facts = {name: corpus_rows.video_facts(db, name) for name in names}
    if missing := [name for name, video in facts.items() if video is None]:
        raise ProjectError(
            f"the files of {len(missing):,} videos are not known, such as {missing[0]}: import again with --videos, "
            "or build from text alone (--visual none)"
        )
    return {name: project.source(video) for name, video in facts.items() if video is not None}


def _build(
    corpus: CaptionedCorpus,
    files: Mapping[str, Source],
    spec: sentence.EncoderSpec,
    out: Path,
    options: PoolOptions,
    thresholds: Path | None,
    looks: VisualOptions | None,
    embeddings: Path,
    where: Where,
    now: float,
    progress: Progress | None,
) -> BuildReport:
    """Check the options, load the encoder, and build the pools. The encoder's files may have to be downloaded."""
    require_new_folder(out)
    stored = read_thresholds(thresholds) if thresholds else None
    if stored:
        options = replace(options, t_pos=stored.t_pos, t_neg=stored.t_neg)
    require_valid(options, corpus)
    encoder = placed(sentence.load(spec), where)
    if stored and stored.encoder != encoder.identity:
        raise ProjectError(
            f"{thresholds} has thresholds of {stored.encoder}, but the encoder here is {encoder.identity}: "
            "run `reelrank mvmr calibrate` with this one"
        )
    visual = None
    if looks:
        clip = placed(load_clip(looks.clip or CLIP_NAME), where)
        visual = encode_corpus(corpus, files, clip, embeddings, per_s=looks.frames_per_s, progress=progress)
    return build(
        corpus,
        encoder,
        out,
        options,
        embeddings=embeddings,
        visual=visual,
        thresholds_from=f"{stored.labels}: {stored.rule}" if stored else "given",
        now=now,
        progress=progress,
    )
