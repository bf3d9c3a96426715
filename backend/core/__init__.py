"""What both products stand on: refusals, ids, spans of time, text files, worker processes."""
