"""The demo: a made-up project's issues, the show in the terminal, and a web page to play with.

`issues.jsonl` is the tracker of Larkspool, a photo server that does not exist. Each line is an issue: `id` (its
number), `title`, `body`, `created_at`, `closed_at`, `author`, `duplicate_of` (an earlier `id` or null); some also have
`state_reason`, `labels`, `reactions` (emoji name to count) and `comments` (`author`, `created_at`, `body`).
`issue_template/` holds the project's issue forms.
"""
