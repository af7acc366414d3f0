"""The judge (J): a language model that reads an issue and its candidates, where the host has named an endpoint."""
