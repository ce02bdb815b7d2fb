"""Chaos benchmark: concurrent writers under faults; acknowledged writes must persist exactly once.

`proxy` contains the network, `faults` the faults of server and network, `writers` the concurrent
writes, `judging` the checks afterwards, and `running` the whole run.
"""
