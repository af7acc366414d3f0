"""From what people said of a repository's comments to the probability from which on it gets any (C7)."""
