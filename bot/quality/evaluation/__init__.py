"""How well the finder would have done: a replay held against the duplicates that people marked themselves."""
