"""Metrics and health of queue, store and workers, for operators."""
