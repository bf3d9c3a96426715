"""A package, so that what its tests share ends with them: the browser runs an event loop, which stops others."""
