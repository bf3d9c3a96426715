"""How sentences to people say things that many features tell."""


def ago(seconds: float) -> str:
    """How long ago something was, roughly.

    >>> [ago(20), ago(250), ago(7200), ago(3 * 86_400)]
    ['just now', '4 minutes ago', '2 hours ago', '3 days ago']
    """
    for unit, length_s, least in (("day", 86_400, 2), ("hour", 3600, 1), ("minute", 60, 1)):
        count = int(seconds // length_s)
        if count >= least:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"
