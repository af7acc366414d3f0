"""How good the bot is: replay, evaluation, training, calibration, feedback, scan, digest."""
