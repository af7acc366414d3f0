"""How well the finder would have done: a replay compared with the duplicates that people marked."""
