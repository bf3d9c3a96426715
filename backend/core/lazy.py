"""Names that are imported when somebody first uses them.

A package that gathers the surface of a whole program would load that program for everybody who wants one function of
it. Python has a place for this, a module's own `__getattr__` (PEP 562), and editors and mypy do not understand what is
done there. So the imports stand where both read them, under `if TYPE_CHECKING:`, and are read from there here as well.
"""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path


def names(module: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module: what it imports under `if TYPE_CHECKING:`, each at its first use.

    Nothing is kept in the module, so that what is put there (a test's stand-in) is what everybody sees, and what is
    taken away again leaves no trace. A name must not be that of a module inside the same package: Python would put the
    module in its place.

    Args:
        module: `__name__` of the module.
        file: `__file__` of it; the source must be there.
    """
    homes = {
        alias.asname or alias.name: (statement.module, alias.name)
        for block in ast.parse(Path(file).read_bytes()).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, there = homes[name]
        return getattr(importlib.import_module(home), there)

    return get, lambda: sorted(homes)
