"""The backlog scan (D8): groups issues of one repository that report the same thing, using its index."""
