"""One run of a job, and what follows it: nothing more, another try, or none."""
