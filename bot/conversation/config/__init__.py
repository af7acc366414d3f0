"""The settings that a repository keeps in `.github/doppel.yml` (C6)."""
