"""The command rewrite: what it prints of what rewriting changed."""

from collections.abc import Callable

from backend import api
from support import NOW

Run = Callable[..., tuple[int, str, str]]


def test_the_summary_is_the_papers_table(reelrank: Run, corpus_project: api.Project) -> None:
    folder = corpus_project.folder
    assert reelrank("rewrite", folder, "--summary") == (
        *(0, "0 imprecise captions, 0 of them changed; words a caption 0.00 before, 0.00 after.\n", ""),
    )
    with (folder / "reelrank.toml").open("a") as file:
        file.write('"Anna" = "a woman"\n"Boris" = "a man"\n"Carla" = "a woman"\n"Dev" = "someone"\n')
    api.rewrite_captions(api.open_project(folder), now=NOW)
    code, out, err = reelrank("rewrite", folder, "--summary")
    assert (code, err) == (0, "")
    assert out.startswith("48 imprecise captions, 48 of them changed; words a caption ")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["replacement", "words", "count"],
        *(["a", "woman", "24"], ["a", "man", "12"], ["someone", "12"]),
    ]
