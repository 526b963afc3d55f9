"""Boundary terms: what appears and disappears when things move (design decision D7).

An image's derivative has, besides the derivative of what each path brings, a part for every line on the film where
radiance jumps: the jump times the speed at which the line moves, integrated along it. ``outline`` samples the lines
that the camera sees itself, edges of shapes; ``shadow`` those that edges throw onto surfaces. Both give their result
as the adjoint of one point of the film, from which the rest is the chain rule (``view``).
"""
