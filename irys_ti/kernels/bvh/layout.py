"""How a tree lies in its four arrays; shared by the host builder and the traversal.

nodes (reals): per node the lower x of all its ``width`` children, then lower y, z, upper x, y, z; unused
    children have a far box. Node 0 is the root of the world.
node_refs (ints): per child its reference: a node number, or ~code of a leaf. code = start << 6 |
    (count - 1) << 4 | kind: ``count`` blocks from block ``start`` on, all of one geometry kind. For
    kind INSTANCE ``start`` is the instance's number.
blocks (reals): a block has room for ``lanes`` triangles: x of all their first corners, then y, z, then the
    second corners, the third. Zeros in unused lanes: a triangle without extent is never hit. Blocks of width 8
    hold LANE_REALS numbers a primitive of kinds that are LANED likewise; other blocks use no reals. The first blocks
    hold the instances, INSTANCE_REALS each: rows of the 3x4 world to object transform, then of object to world.
block_prims (ints): per lane of a block the primitive's number, -1 in unused lanes of other kinds; the
    instances have INSTANCE_INTS each, the first being the root node of the instance's group.
"""

INSTANCE = 15
NOTHING = 14  # kind of the one leaf of an empty tree
KIND_BITS, COUNT_BITS = 4, 2
START_SHIFT = KIND_BITS + COUNT_BITS
MAX_COUNT = 1 << COUNT_BITS
MAX_BLOCKS = 1 << (31 - START_SHIFT)

INSTANCE_REALS = 36
INSTANCE_INTS = 3

# Unused children have their box at this point: far from anything, yet no infinity, which some GPU drivers
# assume away. A ray that meets it nevertheless visits a used child twice, which is harmless.
FAR = 1e30

# By width: reals per node, triangles per block, reals per block, depth of the traversal's stack, which the
# world's tree and a group's share (2.4 million triangles need about 50 and 96).
NODE_REALS = {2: 16, 8: 48}
LANES = {2: 1, 8: 8}
BLOCK_REALS = {2: 12, 8: 72}
STACK = {2: 64, 8: 128}

LANE_REALS = 9  # of a triangle, or of a primitive of a LANED kind

# Primitives that a leaf may hold at most: a full vector of triangles, or of a LANED kind, on the CPU; a few where
# lanes run by.
LEAF_TRIANGLES = {2: 4, 8: 8}
LEAF_LANED = {2: 2, 8: 8}
LEAF_OTHERS = {2: 2, 8: 2}


def blocks_for_instances(n: int, width: int) -> int:
    """Blocks at the front that n instances take up."""
    return -(-n * INSTANCE_REALS // BLOCK_REALS[width])
