"""For training loops of one's own: negatives from the files of `reelrank mvmr negatives`, and the CroCs loss."""
