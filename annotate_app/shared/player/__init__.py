"""The grading player: a component that runs in the annotator's browser."""
