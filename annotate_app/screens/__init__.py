"""The pages of the app. Each is a module, or a folder whose `__init__.py` has the page."""
