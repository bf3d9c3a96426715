"""Rewrite published captions without names, let leads accept or reject the rewrites, and correct caption texts."""
