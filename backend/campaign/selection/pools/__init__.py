"""Pools of videos for massive-video moment retrieval: build them, let people check them, and draw figures of them.

Also writes how likely each video is drawn as a negative in training.
"""
