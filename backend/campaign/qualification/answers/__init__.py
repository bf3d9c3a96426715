"""Pairs with a known grade and answers to them, as exam, calibration round, gold questions and practice use them."""
