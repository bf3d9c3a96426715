"""Scripts that run in another Python installation, because the packages they need conflict with ReelRank's."""
