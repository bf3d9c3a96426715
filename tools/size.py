"""Print how large the code is and how many modules only one other module imports: `make size`.

Code lines are lines that contain more than a comment or a docstring.
"""

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("backend", "annotate_app")
SMALL = 60
"""Lines below which a module with one importer needs a reason."""
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def modules(*packages: str, root: Path = ROOT) -> dict[str, str]:
    """Return the source of every module of some packages, by its dotted name such as `backend.api`."""
    files = [file for package in packages for file in sorted((root / package).rglob("*.py"))]
    return {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file.read_text("utf-8")
        for file in files
    }


def importers(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return for each imported module the names of the modules that import it.

    >>> importers({"a": "from b import c", "b": "", "b.c": "import a"})["a"]
    {'b.c'}
    """
    importing: dict[str, set[str]] = defaultdict(set)
    for name, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            targets = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                targets = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for target in {*targets} & sources.keys() - {name}:
                importing[target].add(name)
    return importing


def code_lines(source: str) -> int:
    r"""Return the number of lines with code, without blank lines, comments and docstrings.

    >>> code_lines("x = 1\n\n# why\ny = (\n    1\n)\n")
    4
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def main() -> None:
    """Print the counts of modules and lines."""
    sources = modules(*PACKAGES)
    length = {name: len(source.splitlines()) for name, source in sources.items()}
    once = [name for name, importing in importers(sources).items() if len(importing) == 1]
    longest = max(length, key=lambda name: length[name])
    for label, count in {
        "modules": len(sources),
        "with exactly one importer": len(once),
        f"of those under {SMALL} lines": sum(length[name] < SMALL for name in once),
        "code lines": sum(map(code_lines, sources.values())),
        "lines of backend.api": sum(lines for name, lines in length.items() if f"{name}.".startswith("backend.api.")),
        f"longest module ({longest}), lines": length[longest],
        "code lines of tests": sum(map(code_lines, modules("tests").values())),
        "decisions": len(list((ROOT / "docs" / "decisions").glob("*.md"))),
    }.items():
        sys.stdout.write(f"{count:7,}  {label}\n")


if __name__ == "__main__":
    main()
