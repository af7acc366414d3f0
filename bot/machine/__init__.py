"""What a process asks of the machine that it runs on: threads, memory, sockets, private files, child processes."""
