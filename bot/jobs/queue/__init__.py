"""The queue in its database: what a job is there, how it is put in, and what leaves when."""
