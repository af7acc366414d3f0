"""The demo: a made-up project's issues, the show in the terminal and the page to play with.

`issues.jsonl` is the tracker of Larkspool, a photo server that does not exist. One issue a line: `id` (the number it
gets), `title`, `body`, `created_at`, `closed_at`, `author`, `duplicate_of` (an earlier `id` or null), and where they
apply `state_reason`, `labels`, `reactions` (emoji name to count) and `comments` (`author`, `created_at`, `body`).
`issue_template/` are the issue forms of that project, as they stand in its `.github/ISSUE_TEMPLATE`.
"""
