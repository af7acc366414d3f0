"""How a database is opened, told from others, waited for, brought up to date, and why it fails."""
