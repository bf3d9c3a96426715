"""The systems that can be trained, by name: one module each, with its network, its loss, and how it scores spans.

Naming systems imports none of them, and no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.systems.learning.system import System

SYSTEMS: dict[str, str] = {
    "mmn": "MMN",
    "crocs": "CroCs",
    "g2l": "G2L",
    "cet": "CrossEncoder",
    "bet": "BiEncoder",
    "xml": "XML",
    "reloclnet": "ReLoCLNet",
    "conquer": "Conquer",
    "late": "Late",
}
"""The class of each system; its module here has the system's name."""


def system_class(name: str) -> "type[System]":
    """Return the class of a system.

    Raises:
        KeyError: there is no such system.
    """
    cls: type[System] = getattr(import_module(f"{__name__}.{name}"), SYSTEMS[name])
    return cls
