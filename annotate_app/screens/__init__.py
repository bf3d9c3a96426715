"""The pages of the app. Each is a module, or a folder with the page in `__init__.py` and its parts beside it."""
