"""Each formula a second time, in Python, to test the Cypher by.

The product calls none of this. Defaults come from the product, so that they cannot drift apart.
"""
