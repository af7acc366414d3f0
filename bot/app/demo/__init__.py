"""The demo: a made-up project's issues, the show in the terminal, and a web page to play with.

`issues.jsonl` is the tracker of Larkspool, a photo server that does not exist, in the form that `Simulator.load_issues`
reads. `issue_template/` holds the project's issue forms.
"""
