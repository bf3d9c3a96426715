"""Rewriters, attempts and the check: who gets a second attempt, what is kept of whom, and why something waits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.corpus.captions.decisions import accept_rewrites, waiting_rewrites
from backend.campaign.corpus.captions.model import Usage
from backend.campaign.corpus.captions.rewrite_check import RewriteCheck
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.corpus.captions.rows import Rewrite, replace_rewrites, searchable_captions
from backend.campaign.corpus.importing.rows import CaptionRow
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import ProjectError
from backend.core.ids import MomentId
from backend.core.progress import Steps
from backend.encoders.sentence import FloatArray
from backend.store import connection
from support import MOMENTS, NOW, PEOPLE, WordEncoder

ORIGINALS = sorted({moment.caption for moment in MOMENTS})


@dataclass
class Told:
    """A rewriter that says what a test lets it say, a function an attempt."""

    say: Sequence[Callable[[str], str]]
    asked: list[list[str]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    usage_ever: Usage = field(default_factory=Usage)

    @property
    def attempts(self) -> int:
        return len(self.say)

    def version(self, attempt: int) -> str:
        return f"told-{attempt}"

    def rewrite(self, texts: Sequence[str], attempt: int, *, progress: object = None) -> list[str]:
        self.asked.append(list(texts))
        return [self.say[attempt - 1](text) for text in texts]


class OnlyMona:
    """A tagger that knows one name, in whatever case."""

    identity = "only-mona"

    def names(self, texts: Sequence[str], *, progress: object = None) -> list[tuple[str, ...]]:
        return [tuple(word for word in text.split() if word.lower() == "mona") for text in texts]


@pytest.fixture
def project(corpus_project: Project) -> Project:
    """The small project, with a cast."""
    with (corpus_project.folder / "reelrank.toml").open("a") as file:
        file.writelines(f'"{name}" = "a person"\n' for name in PEOPLE)
    return open_project(corpus_project.folder)


def without_name(text: str) -> str:
    """A good rewrite of what the small project says: `Anna waves in room 3.`"""
    return f"Someone {text.split(' ', 1)[1]}"


def rows(project: Project, columns: str, where: str = "kind = 'rewritten'") -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute(f"SELECT {columns} FROM caption WHERE {where}")]


def test_what_fails_the_last_attempt_waits_with_the_every_reason(project: Project) -> None:
    told = Told([lambda text: "Anna xylophone.", lambda text: "Anna zeppelin."])
    report = rewrite_captions(project, OPERATOR, encoder=WordEncoder(), rewriter=told, now=NOW)
    assert (report.accepted, report.waiting) == (0, 48)
    for _, text, reason in waiting_rewrites(project):
        assert text == "Anna zeppelin."
        assert reason.startswith("it still has a name: Anna")
    assert any("; similarity 0." in reason for _, _, reason in waiting_rewrites(project))


def test_where_there_is_no_answer_the_caption_itself_waits(project: Project) -> None:
    report = rewrite_captions(project, OPERATOR, encoder=WordEncoder(), rewriter=Told([lambda text: ""]), now=NOW)
    waiting = waiting_rewrites(project)
    assert {(text, reason) for _, text, reason in waiting} == {
        (caption, "there is no usable rewrite") for caption in ORIGINALS
    }
    assert [(counts.unanswered, counts.named, counts.dissimilar) for counts in report.checks] == [(48, 0, 0)]
    assert set(rows(project, "similarity")) == {(None,)}


def test_a_name_that_a_rewriter_brings_in_is_noticed(tmp_path: Path) -> None:
    check = RewriteCheck(WordEncoder(), tmp_path, {"Ross": "a man", "Central Perk": "Central Perk"}, {})
    originals = ["Ross waves at a tall man.", "Ross sits in Central Perk."]
    verdicts = check.examine(originals, ["A man waves at tall Sheldon.", "A man sits in Central Perk."])
    assert [verdict.reasons for verdict in verdicts] == [("it still has a name: Sheldon",), ()]


def test_a_tagger_finds_what_capitals_cannot(tmp_path: Path) -> None:
    check = RewriteCheck(WordEncoder(), tmp_path, {}, {}, OnlyMona())
    verdict, _ = check.examine(["mona waves at a cat.", "A cat."], ["mona waves at a cat.", "A cat."])
    assert verdict.reasons == ("it still has a name: mona",)
    spared = RewriteCheck(WordEncoder(), tmp_path, {"mona": "mona"}, {}, OnlyMona())
    assert spared.examine(["mona waves."], ["mona waves."])[0].reasons == ()


def test_a_person_decides_for_good_and_no_rewriter_is_asked_again(project: Project, tmp_path: Path) -> None:
    rewrite_captions(project, OPERATOR, encoder=WordEncoder(), rewriter=Told([str]), now=NOW)
    decisions = tmp_path / "waiting.csv"
    decisions.write_text(f"caption,rewrite\n{ORIGINALS[0]},Somebody is there.\n")
    accept_rewrites(project, decisions, now=NOW)
    told = Told([without_name])
    report = rewrite_captions(project, OPERATOR, encoder=WordEncoder(), rewriter=told, now=NOW)
    assert sorted(told.asked[0]) == ORIGINALS[1:]
    assert (report.at_once, report.decided) == (47, 1)
    assert rows(project, "text", "rule_version = 'by-hand'") == [("Somebody is there.",)]


def test_queries_drawn_while_a_model_is_at_work_keep_their_captions(project: Project) -> None:
    rewrite_captions(project, OPERATOR, encoder=WordEncoder(), rewriter=Told([without_name]), now=NOW)
    before = rows(project, "caption_id, text")

    def draws(text: str) -> str:
        if text == ORIGINALS[-1]:
            draw_queries(project, OPERATOR, val=2, test=1, seed=1, now=NOW)
        return without_name(text)

    with pytest.raises(ProjectError, match="texts are fixed"):
        rewrite_captions(project, OPERATOR, encoder=WordEncoder(), rewriter=Told([draws]), now=NOW)
    assert rows(project, "caption_id, text") == before


@pytest.mark.parametrize("act", ["replace", "look up"])
def test_ten_times_the_captions_are_ten_times_the_work_and_not_a_hundred_times(tmp_path: Path, act: str) -> None:
    def steps(captions: int) -> int:
        """Rough thousands of steps of SQLite's, which no clock can disturb."""
        store = connection.create(tmp_path / f"{captions}.db")
        sources = [CaptionRow(n, MomentId(n), f"Anna waves in room {n}.") for n in range(1, captions + 1)]
        counted = 0

        def count() -> int:
            nonlocal counted
            counted += 1
            return 0

        with connection.writing(store) as db:
            db.conn.execute("INSERT INTO video (name, duration_s) VALUES ('v', 1e9)")
            db.conn.executemany(
                "INSERT INTO moment (moment_id, video_id, start_s, end_s) VALUES (?, 1, ?, ?)",
                ((c.moment_id, c.moment_id, 1e9) for c in sources),
            )
            db.conn.executemany(
                "INSERT INTO caption (caption_id, moment_id, text, kind) VALUES (?, ?, ?, 'published')",
                ((c.caption_id, c.moment_id, c.text) for c in sources),
            )
            made = [Rewrite(source, f"Someone {source.caption_id}.", "told-1", 1, 1.0, True) for source in sources]
            replace_rewrites(db, made)
            db.conn.set_progress_handler(count, 1000)
            if act == "replace":
                replace_rewrites(db, made)
            else:
                assert len(searchable_captions(db)) == captions
            db.conn.set_progress_handler(None, 0)
        store.close()
        return counted

    assert steps(3000) < 20 * steps(300)


class Leaning(WordEncoder):
    """Two texts, of which the second stands at 0.398 to the first."""

    identity = "leaning"
    dim = 2

    def encode(self, texts: Sequence[str], *, progress: Steps | None = None) -> FloatArray:
        away = math.sqrt(1 - 0.398**2)
        return np.array([(1, 0) if text == "caption" else (0.398, away) for text in texts], dtype=np.float32)


def test_a_similarity_just_below_the_floor_is_not_told_as_the_floor(tmp_path: Path) -> None:
    """ "Similarity 0.40 is below 0.4" says that a machine is wrong."""
    check = RewriteCheck(Leaning(), tmp_path, {}, ())
    assert check.examine(["caption"], ["rewrite"])[0].reasons == ("similarity 0.39 is below 0.4",)
