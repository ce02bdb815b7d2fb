"""Many writers, and everything that can go wrong with a server: what was acknowledged stays, once.

`proxy` is the network, `faults` what happens to server and network, `writers` what is written
meanwhile, `judging` what must be true afterwards, `running` the whole.
"""
