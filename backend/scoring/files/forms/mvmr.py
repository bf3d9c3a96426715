"""Files of pools, as in MVMR (Yang et al., 2024). They are no truth; the reader says where to give them."""

from backend.core.errors import InputError
from backend.core.messages import said
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm


def refuse_pools(_content: bytes, file: str) -> list[AnnotatedQuery]:
    """Raise an `InputError` that says how to give a file of pools."""
    raise InputError.single(file, said("is a file of pools: give it with --pool, and its moments become the truth"))


FORMS = (
    TruthForm(
        "mvmr",
        "pools of MVMR",
        lambda opening: opening.nesting == "{{" and {"timestamps", "retrieval_pool"} <= opening.fields,
        refuse_pools,
    ),
)
