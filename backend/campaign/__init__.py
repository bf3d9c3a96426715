"""Product two: campaigns, from a corpus to a release.

Each feature has a folder. The contracts in pyproject.toml say which feature may import which.
"""
