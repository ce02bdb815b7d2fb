"""The one language pack: everything that knows English words and sentences."""
