"""Charts of numbers: Altair specifications, and files of them (SVG, PNG) without a browser."""
