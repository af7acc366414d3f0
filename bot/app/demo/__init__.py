"""The demo: a made-up project's issues, the show in the terminal, and a web page to play with.

`issues.jsonl` has the issues of Larkspool, a photo server that does not exist. `Simulator.load_issues` reads the file.
`issue_template/` holds the project's issue forms.
"""
