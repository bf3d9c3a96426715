"""The model to train on pseudo training sets: late interaction of frame features and sentence vectors."""
