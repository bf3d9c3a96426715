"""How sentences to people say things that many features tell."""

from backend.core.messages import said, said_n


def ago(seconds: float) -> str:
    """How long ago something was, roughly.

    >>> [ago(20), ago(250), ago(7200), ago(3 * 86_400)]
    ['just now', '4 minutes ago', '2 hours ago', '3 days ago']
    """
    days, hours, minutes = (int(seconds // length_s) for length_s in (86_400, 3600, 60))
    if days >= 2:
        return said("{n} days ago", n=days)
    if hours > 0:
        return said_n("{n} hour ago", "{n} hours ago", hours)
    return said_n("{n} minute ago", "{n} minutes ago", minutes) if minutes > 0 else said("just now")
