"""Replay a finished campaign with fewer grades, and compare the scores of systems: `reelrank replay`."""
