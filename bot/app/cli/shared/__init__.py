"""What several commands share: options, how work in progress is shown, how it ends. Nothing here is a command."""
