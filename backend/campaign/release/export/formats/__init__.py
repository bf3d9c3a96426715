"""A release in other forms, for other programs: the same queries, moments and relevances. One file a form."""
