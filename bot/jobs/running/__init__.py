"""One run of a job, and what follows it: another try after a wait, or none."""
