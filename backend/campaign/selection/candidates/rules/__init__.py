"""Pure: what a probe holds, what becomes of runs that are pooled."""
