"""Code that several commands share: options, progress bars, signals, errors. No module here is a command."""
