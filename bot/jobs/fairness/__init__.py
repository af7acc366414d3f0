"""Whose turn it is: among installations, among their repositories, and among the jobs of one issue."""
