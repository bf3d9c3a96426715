"""Paths as the disk has them, whichever Unicode form people write."""

from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.core.reading import file_bytes, on_disk


@pytest.mark.parametrize(("there", "typed"), [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")])
def test_a_path_is_found_in_either_form(tmp_path: Path, there: str, typed: str) -> None:
    (tmp_path / there).mkdir()
    (tmp_path / there / f"{there}.json").write_bytes(b"[]")
    assert file_bytes(tmp_path / typed / f"{typed}.json") == b"[]"
    assert on_disk(tmp_path / typed / "new.json") == tmp_path / there / "new.json"
    (tmp_path / typed).mkdir()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        file_bytes(tmp_path / typed / f"{typed}.json")
