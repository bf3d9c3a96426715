"""Paths as the disk has them, whichever Unicode form people write."""

from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.core.reading import file_bytes, mapped_bytes, on_disk


@pytest.mark.parametrize(("there", "typed"), [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")])
def test_a_path_is_found_in_either_form(tmp_path: Path, there: str, typed: str) -> None:
    (tmp_path / there).mkdir()
    (tmp_path / there / f"{there}.json").write_bytes(b"[]")
    assert file_bytes(tmp_path / typed / f"{typed}.json") == b"[]"
    assert on_disk(tmp_path / typed / "new.json") == tmp_path / there / "new.json"
    (tmp_path / typed).mkdir()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        file_bytes(tmp_path / typed / f"{typed}.json")


def test_a_mapped_file_has_the_bytes_of_the_file_even_if_there_are_none(tmp_path: Path) -> None:
    file = tmp_path / "train_top40.json"
    file.write_bytes(b"[1, 2]")
    assert bytes(mapped_bytes(file)) == b"[1, 2]"
    file.write_bytes(b"")
    assert mapped_bytes(file) == b""
    with pytest.raises(InputError, match=r"gone\.json: cannot be read: No such file"):
        mapped_bytes(tmp_path / "gone.json")
