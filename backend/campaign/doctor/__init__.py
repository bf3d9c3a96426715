"""Checks of all that must hold in a project."""
