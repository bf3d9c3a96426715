"""People watch a video, mark moments and write a sentence for each; a lead makes captions of them."""
