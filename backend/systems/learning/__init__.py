"""A model that is trained on pseudo training sets: late interaction of frame features and sentence vectors."""
