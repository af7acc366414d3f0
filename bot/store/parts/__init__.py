"""What is kept, a file for each concern with one class over a table or two: `store.comments` is in `comments`."""
