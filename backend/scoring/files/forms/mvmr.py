"""Recognise files of pools (the videos to search for each query), as in MVMR (Yang et al., 2024), to refuse them.

They are not truth files: they belong to the option `--pool`.
"""

from backend.core.errors import InputError
from backend.core.messages import said
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm


def refuse_pools(_content: bytes, file: str) -> list[AnnotatedQuery]:
    """Refuse a file of pools that was given as a truth: raise an `InputError` that names its option, `--pool`."""
    raise InputError.single(file, said("is a file of pools: give it with --pool, and its moments become the truth"))


FORMS = (
    TruthForm(
        "mvmr",
        "pools of MVMR",
        lambda opening: opening.nesting == "{{" and {"timestamps", "retrieval_pool"} <= opening.fields,
        refuse_pools,
    ),
)
