"""The tables, as migrations: a file each, written once, never edited after a release. Adding one is adding a file.

`source` tables are the record and only grow; `consensus` and `agenda` are derived and may be dropped and rebuilt
at any time; `seat` is where places change hands; a row of `skip` or `example` changes once, when it ends; one of `exam`
when its key is there (with its items), when its answers are used, and when it ends. An exam item's explanation may be
reworded, and an attempt notes when it was handed in and when its result was read. The one row of `campaign` says what
the campaign is; the grades of `scale` are fixed with the first one given, its words have versions.
docs/schema.md is generated from here.
"""

import pkgutil
from importlib import import_module

from backend.store.schema.running import migrations

__all__ = ["DIGESTS", "migrations"]

DIGESTS: dict[str, str] = {}
"""Return the digest of the schema after a migration, if its file declares one. Others are computed in 0.1 s."""

for _name in sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name[0] == "m"):
    _module = import_module(f"{__name__}.{_name}")  # in the order of their numbers
    if hasattr(_module, "SCHEMA_DIGEST"):
        DIGESTS[_name] = _module.SCHEMA_DIGEST
