"""Quality of the beliefs that consolidation forms."""
