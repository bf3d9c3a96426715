"""Retrieval systems: baselines, files of frame features, and a model that can be trained.

A system gets plain queries, videos and captions. Nothing here reads an annotation campaign or its database.
"""
