"""Which passwords are taken, and what is said of the others."""

import pytest

from backend.campaign.setup.people.passwords import password_weakness


@pytest.mark.parametrize(
    ("password", "name", "reason"),
    [
        ("seven77", "Ana", "at least 8 characters"),
        ("aaaaaaaaaaaa", "Ana", "repeats"),
        ("xy7xy7xy7", "Ana", "repeats"),
        ("12345678", "Ana", "follows the keyboard"),
        ("87654321", "Ana", "follows the keyboard"),
        ("QWERTZUIOP!", "Ana", "follows the keyboard"),
        ("qwertyasdf1234", "Ana", "follows the keyboard"),
        ("Password1", "Ana", "very common"),
        ("p\uff41ssw0rd!", "Ana", "very common"),
        ("$ommer2024", "Ana", "very common"),
        ("reelrank2024", "Ana", "very common"),
        ("ana12345", "Ana", "your name"),
        ("Ana.Lopez1", "ana lo\u0301pez", "your name"),
        ("L\u00f3pez-2024", "Ana L\u00f3pez", "your name"),
        ("correct horse", "Ana", ""),
        ("x9$kQ2!a", "Ana", ""),
        ("banana-tram-noon", "Ana", ""),
        ("\u5bc6\u7801\u662f\u5929\u4e0a\u7684\u6708\u4eae", "Ana", ""),
        ("long enough", "", ""),
    ],
)
def test_what_is_easily_guessed_is_refused_with_its_reason(password: str, name: str, reason: str) -> None:
    found = password_weakness(password, name)
    assert reason in found
    assert bool(found) == bool(reason)
