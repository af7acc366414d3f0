"""The part of GitHub's GraphQL interface that bots need."""
