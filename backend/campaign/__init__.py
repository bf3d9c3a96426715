"""Product two: from a corpus to a release. A folder a feature; features are ordered, see pyproject.toml."""
