"""Score queries against the videos of a corpus by their frames: EMScore, by CLIP.

*Reads* video files, and what is kept of them. *Writes* vectors of frames, which are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.selection.pools.model import Captioned
from backend.campaign.selection.pools.rules import Doubles, Numbers, Seen
from backend.core.errors import InputError, Problem, VideoUnreadable
from backend.core.progress import Progress, named
from backend.encoders.clip import Clip
from backend.encoders.emscore import FrameVectors, Idf, SentenceVectors, idf, score
from backend.media.frames import keep_frames, vectors_of
from backend.media.sources import Source
from backend.media.video_folder import VideoFolder


@dataclass(frozen=True, slots=True)
class Looking:
    """A corpus that was looked at; its videos are in the order of their names."""

    identity: str
    _frames: FrameVectors
    _sentences: Mapping[str, SentenceVectors]
    _weights: Idf

    def of(self, text: str) -> Seen:
        """EMScore (full F) of a sentence of the corpus and any of its videos."""
        sentence = self._sentences[text]

        def seen(videos: Numbers, *, weighted: bool) -> Doubles:
            return score(sentence, self._frames.some(videos), self._weights if weighted else None).full_f

        return seen


def look(
    corpus: Captioned,
    files: Mapping[str, Source],
    clip: Clip,
    embeddings: Path,
    *,
    per_s: float,
    progress: Progress | None = None,
) -> Looking:
    """Encode the sentences and the videos of a corpus.

    Args:
        corpus: whose every sentence is a document of the IDF weights.
        files: where each of its videos lies.
        clip: the model.
        embeddings: where vectors of frames are kept.
        per_s: frames a second.
        progress: called with (what is done, done, all).

    Raises:
        InputError: the files that cannot be shown.
        EncoderUnavailable: the model cannot be built.
    """
    texts = [moment.sentence for moments in corpus.moments.values() for moment in moments]
    sentences = clip.sentences(texts, progress=named(progress, "encoding sentences by CLIP"))
    keep_frames(clip, files.values(), embeddings, per_s=per_s, progress=named(progress, "encoding frames"))
    steps = named(progress, "looking at videos")
    found = []
    problems = []
    for done, name in enumerate(sorted(corpus.moments), start=1):
        try:
            found.append(vectors_of(clip, files[name], per_s, embeddings))
        except VideoUnreadable as error:
            problems.append(Problem(corpus.source, None, f"video {name}: {error}"))
        if steps:
            steps(done, len(corpus.moments))
    if problems:
        raise InputError(problems)
    weights = idf(sentences[text].tokens for text in texts)
    return Looking(f"{clip.identity} frames={per_s:g}/s", FrameVectors.of(found), sentences, weights)


def files_in(folder: Path, corpus: Captioned) -> dict[str, Path]:
    """The file of every video of a corpus, found by its name in a folder.

    Raises:
        InputError: every video without a file.
    """
    there = VideoFolder(folder)
    files: dict[str, Path] = {}
    problems = []
    for name in corpus.moments:
        try:
            files[name] = there.find(name)
        except VideoUnreadable as error:
            problems.append(Problem(corpus.source, None, str(error)))
    if problems:
        raise InputError(problems)
    return files
