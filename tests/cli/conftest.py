from tests.embeddings import text_model

__all__ = ["text_model"]
