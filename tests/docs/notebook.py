"""Runs docs/python.ipynb cell by cell, and writes what its cells print into it: `make docs`. A test compares."""

import ast
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "python.ipynb"


def outputs(page: Path = PAGE) -> list[list[dict[str, Any]]]:
    """What each code cell prints and ends with, in the form in which a notebook keeps it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in json.loads(page.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    with contextlib.chdir(page.parent):
        return [_run("".join(cell["source"]), number, names) for number, cell in enumerate(cells, start=1)]


def _run(source: str, number: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, found = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            found = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    made: list[dict[str, Any]] = []
    if text := printed.getvalue():
        made.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if found is not None:
        data = {"text/plain": repr(found).splitlines(keepends=True)}
        if hasattr(found, "_repr_html_"):
            data = {"text/html": found._repr_html_().splitlines(keepends=True)} | data
        result = {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        made.append(result)
    return made


def rewritten(page: Path = PAGE) -> str:
    """The notebook with the outputs that it should have."""
    notebook = json.loads(page.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, found) in enumerate(zip(cells, outputs(page), strict=True), start=1):
        cell |= {"execution_count": number, "outputs": found}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    text = rewritten()
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.relative_to(Path.cwd())} written" if PAGE.is_relative_to(os.getcwd()) else PAGE)
