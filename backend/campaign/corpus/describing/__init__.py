"""Describe: people mark moments in videos and write a sentence for each; leads make captions of them."""
