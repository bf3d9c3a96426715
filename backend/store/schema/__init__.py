"""Create and update the tables of a project's database, with one migration per file.

A migration is never edited after a release. To add one, add a file. docs/schema.md is generated from the migrations.

Which rows may change:
- Most tables hold original records; rows are only added to them.
- `consensus` (the verdict on each pair) and `agenda` (the batches that still need annotators) are derived from other
  tables. They may be deleted and rebuilt at any time.
- A row of `seat` is one annotator's place on a pair. It changes when an annotator takes the place, gives it back, or
  grades the pair.
- A row of `skip` or `example` changes once, when it ends.
- A row of `model_grade` never changes, and is removed with its pair.
- A row of `exam` changes when its answer key is stored, when its answers become judgements, and when it ends. The
  answer key also changes the rows of the exam's items.
- The explanation of an exam item may be reworded. An attempt at an exam records when it was handed in and when its
  result was read.
- `campaign` has one row, with the settings of the campaign.
- The grades of `scale` are fixed with the first grade given; their labels and meanings have versions.
"""

import pkgutil
from importlib import import_module

from backend.store.schema.running import migrations

__all__ = ["DIGESTS", "migrations"]

DIGESTS: dict[str, str] = {}
"""Maps a migration to the digest of the schema after it, if its file declares one. Others are computed in 0.1 s."""

for _name in sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name[0] == "m"):
    _module = import_module(f"{__name__}.{_name}")  # in the order of their numbers
    if hasattr(_module, "SCHEMA_DIGEST"):
        DIGESTS[_name] = _module.SCHEMA_DIGEST
