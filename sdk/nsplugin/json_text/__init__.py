"""The exact JSON scanner: positions of everything, every fault in one pass, no recursion, linear time.

``nsplugin.reading`` reaches for it when positions are asked for or when the C parser meets something wrong.
"""
