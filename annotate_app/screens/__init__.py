"""The pages of the app: one module for each page, or a folder whose `__init__.py` has the page."""
