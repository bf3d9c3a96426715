"""Statistics of scores and grades: agreement, bootstrap intervals and significance tests."""
