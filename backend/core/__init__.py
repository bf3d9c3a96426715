"""Pure rules and formulas: no input or output, no clock, no randomness that was not given."""
