"""The accounts of a project: who may sign in and how, and who may do what."""
