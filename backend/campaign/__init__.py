"""ReelRank's second product: a campaign turns a corpus into a release.

Each feature has a folder. The contracts in pyproject.toml say which feature may import which.
"""
