"""The verbs of campaigns, found by their decorators, and arguments for each, made from its type hints."""

import importlib
import inspect
import pkgutil
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

import backend.campaign
from backend.campaign.setup.project.folder import Project
from support import NOW

Verb = Callable[..., Any]
PLAIN: dict[object, object] = {
    **{str: "no such", int: 999, float: NOW, bool: False, bytes: b"", type(None): None},
    Path: Path("no such file"),
}


def taking_a_project() -> Iterator[tuple[str, Verb]]:
    """Every public function outside of rows, rules and models whose first parameter is a project, by its full name."""
    for found in pkgutil.walk_packages(backend.campaign.__path__, "backend.campaign."):
        if not {"rows", "rules", "model"} & {*found.name.split(".")}:
            module = importlib.import_module(found.name)
            for name, function in vars(module).items():
                inner = inspect.unwrap(function) if callable(function) else None
                if inspect.isfunction(inner) and inner.__module__ == found.name and not name.startswith("_"):
                    first = next(iter(inspect.signature(inner).parameters.values()), None)
                    if first is not None and first.annotation is Project:
                        yield f"{found.name}.{name}", function


def permission(function: Verb) -> str | None:
    """By which decorator a function says who may call it."""
    return getattr(function, "permission", None)


VERBS = {name: function for name, function in taking_a_project() if permission(function)}


def arguments(verb: Verb) -> dict[str, Any]:
    """What a verb has to be given besides the project and who asks: nothing that exists."""
    inner = inspect.unwrap(verb)
    hints = get_type_hints(inner)
    asked = list(inspect.signature(inner).parameters.values())[1 if permission(verb) == "public" else 2 :]
    return {
        one.name: NOW if one.name == "now" else value(hints[one.name])
        for one in asked
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    }


def value(hint: Any) -> Any:
    """Return a value of a type."""
    if hint in PLAIN:
        return PLAIN[hint]
    if isinstance(hint, NewType):
        return value(hint.__supertype__)
    origin, within = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return None if type(None) in within else value(within[0])
    if origin is Literal:
        return within[0]
    if origin is tuple:
        return () if within[-1] is ... else tuple(map(value, within))
    if inspect.isclass(hint) and issubclass(hint, Enum):
        return next(iter(hint))
    if is_dataclass(hint):
        known = get_type_hints(hint)
        needed = [one for one in fields(hint) if one.default is MISSING and one.default_factory is MISSING]
        try:
            return hint(**{one.name: value(known[one.name]) for one in needed})
        except ValueError:  # it takes no nonsense
            return None
    kind = origin or hint
    if inspect.isclass(kind) and issubclass(kind, dict | types.MappingProxyType):
        return {}
    if getattr(kind, "__name__", "") in ("Mapping", "MutableMapping"):
        return {}
    if getattr(kind, "__name__", "") in (
        "Sequence",
        "Iterable",
        "Collection",
        "list",
        "set",
        "frozenset",
        "AbstractSet",
    ):
        return []
    return None
