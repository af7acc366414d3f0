"""The judge (J): a language model that reads an issue and its candidates, if the host has configured an endpoint."""
