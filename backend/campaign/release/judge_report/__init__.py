"""Measure a model that grades pairs against people: its grades, and the order of systems that they would give."""
