"""Pages on which a person sees what the memory knows, why and since when, and puts it right."""
