"""Settings, logs, metrics, files and processes: the ground that the rest stands on."""
