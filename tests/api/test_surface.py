"""The surface loads what is asked of it, and every name of it is there."""

import pkgutil
import subprocess
import sys

import pytest

from backend import api


def test_every_name_is_there_and_no_other() -> None:
    assert dir(api) == sorted(api.__all__)
    assert [name for name in api.__all__ if getattr(api, name) is None] == []
    with pytest.raises(AttributeError, match=r"'backend\.api' has no attribute 'desks'"):
        _ = api.desks  # type: ignore[attr-defined]


def test_no_module_of_the_api_hides_a_name_of_it() -> None:
    """`api.desk` was the module `backend.api.desk` as soon as somebody had imported that."""
    modules = {module.name for module in pkgutil.iter_modules(api.__path__)}
    assert modules & set(api.__all__) == set()


def test_who_wants_scores_loads_no_database_and_no_video() -> None:
    heavy = ["pandas", "sqlite3", "sqlite_utils", "av", "cv2", "scipy", "torch", "fcntl", "typer"]
    code = (
        "import sys; from backend import api; assert callable(api.evaluate) and callable(api.score_files); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_stand_in_is_what_callers_get_and_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    real = api.status_counts
    with monkeypatch.context() as patch:
        patch.setattr(api, "status_counts", len)
        from backend.api import status_counts

        assert status_counts is len
    assert api.status_counts is real
