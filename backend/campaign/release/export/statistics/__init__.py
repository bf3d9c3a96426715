"""Statistics of a release, from its own documents: the paper's Tables 1 and 4, as numbers, words and figures."""
