"""Python reference implementations of the formulas, to test the Cypher against.

The product calls none of this. Defaults come from the product, so that they stay identical.
"""
