"""Freeze, keep, validate, compare, import and export releases."""
