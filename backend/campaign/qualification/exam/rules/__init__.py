"""Pure functions for the exam: choose its pairs, find the right grades, and mark the answers."""
