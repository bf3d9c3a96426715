"""The notebook runs from its first cell to its last and holds what its cells print; so does the page beside it."""

import json
import re
from typing import Any

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


def test_the_ten_scripts_are_there_and_short() -> None:
    cells = json.loads(PAGE.read_text(encoding="utf-8"))["cells"]
    scripts = [title for cell in cells if (title := re.match(r"## (\d+)\.", "".join(cell["source"])))]
    assert [title[1] for title in scripts] == [str(number) for number in range(1, 11)]
    assert all(len(cell["source"]) <= 8 for cell in cells[2:] if cell["cell_type"] == "code")


def test_the_measures_on_the_page_can_be_used_as_they_stand_there() -> None:
    text = PAGE.with_name("python.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    cells = json.loads(PAGE.read_text(encoding="utf-8"))["cells"]
    exec("".join(next(cell for cell in cells if cell["cell_type"] == "code")["source"]), names)
    names["run"] = names["runs"]["fair"]
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def success" in block]
    body, _, call = code.rstrip().rpartition("\n\n")
    exec(body, names)
    mean = eval(call, names)
    assert [key for key in mean if not key.startswith("ndcg")] == ["success@1,0.5", "success@10,0.5", "start_error"]
    assert mean["start_error"] < 0 < mean["success@10,0.5"]
