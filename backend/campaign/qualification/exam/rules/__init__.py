"""The exam as pure functions: which pairs make one, what is right, what answers come to."""
