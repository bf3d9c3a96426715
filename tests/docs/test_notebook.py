"""The notebook runs from its first cell to its last and holds what its cells print."""

import json

from notebook import PAGE, outputs, rewritten


def test_its_cells_print_what_stands_in_it() -> None:
    cells = [cell for cell in json.loads(PAGE.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    assert [cell["outputs"] for cell in cells] == outputs(), "run `make docs`"


def test_a_cell_that_prints_something_else_is_seen(tmp_path) -> None:
    """The test above would pass whatever the cells did if outputs were not made anew."""
    source = PAGE.read_text(encoding="utf-8").replace("Random(1)", "Random(2)")
    (tmp_path / "docs").mkdir()
    (tmp_path / "assets").symlink_to(PAGE.parents[1] / "assets")
    other = tmp_path / "docs" / PAGE.name
    other.write_text(source, encoding="utf-8")
    assert rewritten(other) != source
