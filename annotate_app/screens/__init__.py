"""The pages: a module each, or a folder with the page in its `__init__.py` and its parts beside it."""
