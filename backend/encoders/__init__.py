"""Encode sentences as unit vectors, and search them exactly for the nearest neighbours."""
