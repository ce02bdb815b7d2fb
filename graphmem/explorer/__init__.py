"""Pages on which a person sees what the memory knows, why and since when, and puts it right."""

from graphmem.rules.links import item_address as item_address
