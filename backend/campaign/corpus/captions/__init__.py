"""Captions in use: rewrite them, decide on rewrites, and correct them."""
