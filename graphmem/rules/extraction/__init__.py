"""Rules of extraction: windows, prompts, and the checks of proposals."""
