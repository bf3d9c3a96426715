"""The exam as pure functions: which pairs it asks, what is right, what answers come to."""
