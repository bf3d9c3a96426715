"""Provide what all packages share: errors, messages, ids, spans of time, files, worker processes."""
