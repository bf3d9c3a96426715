"""Handle pairs with a known grade, and answers to them, for exam, calibration round, gold questions and practice."""
