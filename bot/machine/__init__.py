"""What a process needs from its machine: sockets, private files, child processes."""
