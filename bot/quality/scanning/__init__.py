"""The backlog scan (D8): groups of issues of one repository that report the same thing, over its index."""
