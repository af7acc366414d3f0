"""What people write as `/duplicates …`: what each command does, and `obeying.py`, which has them do it."""
