"""The command queries: what it says, and what is wrong usage."""

from collections.abc import Callable
from pathlib import Path

from backend import api
from support import MOMENTS

Run = Callable[..., tuple[int, str, str]]


def test_queries_are_drawn_brought_and_taken_back(reelrank: Run, corpus_project: api.Project, tmp_path: Path) -> None:
    folder = corpus_project.folder
    (tmp_path / "q.txt").write_text(f"{MOMENTS[3].caption}\nWhere is the tea?\n")
    code, out, err = reelrank("queries", folder, "--val", "2", "--from", tmp_path / "q.txt", "--seed", "4")
    assert (code, err) == (0, "")
    assert "2 validation, 2 test and 45 training queries, 2 of them from q.txt, seed 4" in out
    assert "Removed from training: 1 captions with the text of a validation or test query." in out
    code, _, err = reelrank("queries", folder, "--val", "1")
    assert code == 1
    assert f"Until the first grade, `reelrank queries {folder} --undo` takes them back" in err
    code, out, _ = reelrank("queries", folder, "--undo")
    assert (code, out) == (0, "Taken back: 49 queries, 0 candidates, 0 pairs.\n")


def test_a_command_that_says_nothing_or_two_things_is_wrong_usage(reelrank: Run, corpus_project: api.Project) -> None:
    code, _, err = reelrank("queries", corpus_project.folder)
    assert (code, "bring your own with --from FILE" in err) == (2, True)
    assert reelrank("queries", corpus_project.folder, "--undo", "--val", "3")[0] == 2


def test_a_draw_over_shows_needs_names_that_tell_them(reelrank: Run, corpus_project: api.Project) -> None:
    code, _, err = reelrank("queries", corpus_project.folder, "--val", "2", "--stratify", "show")
    assert (code, "the show of 6 of 6 videos cannot be told from the name (v0, v1, v2 ...)" in err) == (1, True)
    code, out, _ = reelrank(
        "queries", corpus_project.folder, "--val", "6", "--stratify", "show", "--show-of", r"v(\d)", "--seed", "1"
    )
    assert (code, "6 validation" in out) == (0, True)
