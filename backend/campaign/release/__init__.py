"""Freeze, validate, compare and import releases; score runs against them."""
