"""What is taken from a text: the terms of its fields, and what is embedded; what its form has supplied is not."""
