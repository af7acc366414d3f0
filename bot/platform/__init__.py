"""Settings, logs, metrics, files and processes, which most other rooms use."""
