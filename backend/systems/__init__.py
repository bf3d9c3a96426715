"""Retrieval systems: the baselines, the features of frames, and the model to train.

This package knows no campaign. A system gets plain queries, videos and captions.
"""
