"""A frame, file or stream of any engine goes in; its counts come out.

pandas is one engine among the others; all share the counting kernel.
"""
