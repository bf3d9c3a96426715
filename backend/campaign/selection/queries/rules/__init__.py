"""Pure: a person's file of queries; the draw."""
