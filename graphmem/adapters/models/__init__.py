"""Models, embedding and language ones: what is in a package, and what litellm reaches."""
