"""What becomes of jobs whose worker died, hung, stood still or lost them."""
