"""The command cast: who is in the captions."""

from backend.campaign.setup.project.folder import Project
from cli.conftest import Run


def test_a_proposal_is_shown_counted_and_followed_by_what_to_do(reelrank: Run, corpus_project: Project) -> None:
    folder = corpus_project.folder
    code, out, err = reelrank("cast", folder)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["name", "becomes", "captions", "example"]
    assert "Boris  a man          12  Boris" in out
    assert f"{folder / 'cast.csv'}: 4 names, 4 of them new" in out
    assert "2 men, 2 women, 0 persons, 0 others, 0 undecided." in out
    assert out.splitlines()[-1] == f"Correct the column becomes, then run: reelrank rewrite {folder}"
    again = reelrank("cast", folder)[1]
    assert "4 names, 0 of them new" in again
    assert "example" not in again


def test_a_broken_file_is_named_with_its_row(reelrank: Run, corpus_project: Project) -> None:
    (corpus_project.folder / "cast.csv").write_text("name,becomes\nAnna,Anna of Boris\nBoris,a man\n")
    code, out, err = reelrank("cast", corpus_project.folder)
    assert (code, out) == (1, "")
    assert "cast.csv, row 2: 'Anna' becomes 'Anna of Boris', which the name" in err
