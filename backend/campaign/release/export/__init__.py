"""Make, store, check, compare, import and export releases."""
