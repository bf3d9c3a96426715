"""Pure rules of a replay: which grades a policy collects, the truth that they give, and how scores change."""
