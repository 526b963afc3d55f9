"""Where things stand in the two pools that every kernel reads: ``reals`` and ``ints``. Constants only."""

# --- ints: header, offsets of the tables that follow
H_PRIMS = 0  # prim -> shape index
H_SHAPES = 1  # shape records
H_VALUES = 2  # value records (parameters of materials and lights)
H_MATERIALS = 3
H_LIGHTS = 4
H_ENTRIES = 5  # what light selection chooses from: (light, prim) pairs
H_N_ENTRIES = 6
H_ENTRY_CDF = 7  # offset in reals, H_N_ENTRIES + 1 numbers
H_ENVIRONMENT = 8  # light index of the environment, -1 none
H_ENTRY_OF_LIGHT = 9  # light -> its first entry
H_MAX_DEPTH = 10
H_RR_DEPTH = 11
H_FILM = 12  # full width, full height, crop x, crop y, crop width, crop height
H_FILTER = 18  # 0 box, 1 tent, 2 gaussian
H_RESPONSE = 19  # offset in reals of the film channels' responses, N_LAMBDA numbers each
H_CHANNELS = 20
H_CAMERA = 21  # offset in reals
H_LAMBDA = 22  # offset in reals: cdf (N_LAMBDA), then pdf per bin (N_LAMBDA - 1)
H_D65 = 23  # offset in reals, N_LAMBDA numbers
H_SPHERE = 24  # offset in reals: the scene's bounding sphere, centre and radius
H_INSTANCES = 25
H_MOVERS = 26  # mover records: one for each shape, for each instance, for the camera, for each light
H_N_SHAPES, H_N_INSTANCES = 27, 28
H_RANDOM_LIGHTS = 29  # whether any light has extent, or is an environment
H_BANDS = 40  # offset in reals of the three spectra that colours of splats mix, N_LAMBDA numbers each
H_FLOORED = 41  # whether some splats are sampled by other opacities than their own
H_MEDIA = 48  # medium records
H_INSIDE = 49  # the media that the camera is inside of, packed into two numbers (kernels/media_stack.py)
H_AIMS = 50  # offset in reals: number of lights that scatterings are drawn near to, then AIM_STRIDE numbers each
HEADER_SIZE = 64

MOST_AIMS, AIM_STRIDE = 4, 4  # position, and the share of scatterings that are drawn near to it

N_LAMBDA, LAMBDA_MIN, LAMBDA_STEP = 95, 360.0, 5.0

# --- ints: one shape
SHAPE_STRIDE = 16
SHAPE_KIND, SHAPE_MATERIAL, SHAPE_LIGHT, SHAPE_FLAGS = 0, 1, 2, 3
SHAPE_FIRST_PRIM, SHAPE_N_PRIMS, SHAPE_REALS, SHAPE_FACES = 4, 5, 6, 7
SHAPE_NORMALS, SHAPE_UVS, SHAPE_INTERIOR, SHAPE_EXTERIOR = 8, 9, 10, 11
FLAG_FLIP, FLAG_NORMALS, FLAG_UVS, FLAG_ENCODED = 1, 2, 4, 8
# of a splat set: number of its first value, harmonics per colour (0: a scatterer), their offset in reals
SHAPE_SPLAT_VALUES, SHAPE_N_HARMONICS, SHAPE_HARMONICS = 7, 8, 9

# SHAPE_INTERIOR: 0, or 1 + the medium behind the surface, or VACUUM
VACUUM = 255

# --- ints: one medium
MEDIUM_STRIDE = 16
MEDIUM_GRID, MEDIUM_MATERIAL, MEDIUM_VALUES, MEDIUM_PRIORITY, MEDIUM_FLAGS, MEDIUM_REALS = range(6)
# MEDIUM_GRID: 1 where a grid gives its density; MEDIUM_MATERIAL: number of its phase function's material record;
# MEDIUM_VALUES: number of its first value (kernels/medium); of a grid:
MEDIUM_SIZE, MEDIUM_CELLS = 6, 9  # voxels, and majorant cells, along x, y, z
MEDIUM_TABLE = 12  # 0, or offset in ints of the number of the block at each place, -1 where none is kept, along x, y, z
BLOCK = 8  # voxels along the side of a block of a sparse grid
# MEDIUM_REALS: to the grid's cube [0, 1]^3 (3 x 4, row major), the length of its diagonal, greatest density of each cell
GRID_DIAGONAL, GRID_MAJORANTS = 12, 13
# MEDIUM_FLAGS; DERIVED: its extinction, density or emission is asked for; WALKED: what a material's parameters put behind its
# surface, MEDIUM_MATERIAL being that material (kernels/walk.py)
SCATTERS, EMITS, DERIVED, WALKED = 1, 2, 4, 8

# --- ints: one value (a parameter's number, spectrum or texture)
VALUE_STRIDE = 8
VALUE_KIND, VALUE_DATA, VALUE_N, VALUE_GRAD, VALUE_META, VALUE_HEIGHT, VALUE_FLAGS = range(7)
# VALUE_DATA: offset in reals; VALUE_N: points, or texture width; VALUE_GRAD: first accumulator, -1 not asked for
CONSTANT, GRID, SIGMOID, TEXTURE = range(4)
VOLUME = 16  # a grid's densities, read by kernels/media_grid.py alone
PHASE_TABLE = 32  # a phase function's, read by kernels/phase_table.py alone
PER_PRIM = 8  # VALUE_N colours, one for each primitive of a set; uv's first component is the primitive's number
# VALUE_META: offset in reals of: gradient scale, lambda of the first point, 1 / step, to_uv (6)
META_SCALE, META_LAMBDA, META_INV_STEP, META_UV, META_STRIDE = 0, 1, 2, 3, 9
# VALUE_FLAGS: channels in bits 0-2, wrap in 3-4 (repeat, clamp, mirror), nearest 5, illuminant 6
CHANNELS_MASK, WRAP_SHIFT, NEAREST, ILLUMINANT = 7, 3, 32, 64

# --- ints: one material
MATERIAL_STRIDE = 4
MATERIAL_KIND, MATERIAL_VALUES, MATERIAL_N, MATERIAL_FLAGS = range(4)
# MATERIAL_FLAGS
TWO_SIDED, WANTED, SMOOTH, TRANSMISSIVE, NULL = 1, 2, 4, 8, 16  # NULL: paths go on through it

# --- ints: one light
LIGHT_STRIDE = 8
LIGHT_KIND, LIGHT_VALUES, LIGHT_N, LIGHT_SHAPE, LIGHT_REALS, LIGHT_WIDTH, LIGHT_HEIGHT, LIGHT_WANTED = range(8)
RIDING = 2  # bit of LIGHT_WANTED: a parameter that moves a part of the light is asked for
# LIGHT_REALS: to_local (3 x 4, row major), then what the kind keeps (an environment's distribution)
LIGHT_DATA = 12

# --- reals: the camera, at ints[H_CAMERA]
CAMERA_TO_WORLD, CAMERA_TAN, CAMERA_ASPECT, CAMERA_POINT, CAMERA_NEAR, CAMERA_STRIDE = 0, 12, 13, 14, 16, 17

# --- ints: one mover, a thing whose place has derivatives: first accumulators of its parameters, -1 not asked for
MOVER_STRIDE = 8
MOVER_TRANSLATION, MOVER_ROTATION, MOVER_SCALE, MOVER_VERTICES, MOVER_CENTER, MOVER_RADIUS, MOVER_REALS, MOVER_WANTED = range(8)
# The camera's position, rotation, tangent of half the field of view, and principal point stand in the places of
# translation, rotation, scale and centre. MOVER_REALS: offset in reals of its origin (3) and its units per 1.
MOVER_UNIT, MOVER_DATA = 3, 4

RAY_STRIDE = 7  # a given ray: origin, direction, and 1 where it starts at a surface, whose lights are counted elsewhere

# --- one path's record, kept from the primal pass for the replay
RECORD_TOTAL, RECORD_LOW = 0, 4  # radiance of the four wavelengths, a two-float sum
RECORD_ONE_ZERO = 8  # radiance that exactly one zero factor keeps away
RECORD_WEIGHT = 12  # derivative of the loss by the path's radiance
RECORD_END = 16  # number of the path's vertices up to the last that a light shone on
RECORD_LIT = 17  # one bit for each of the first vertices: its light sample was visible
RECORD_STRIDE = 18
LIT_BITS = 24  # a whole number of this many bits is exact in f32

# --- ints: one edge (kernels/boundary): a line of a mesh, or the outline of a sphere or of a piece of a tube
EDGE_STRIDE = 10
EDGE_SHAPE, EDGE_INST, EDGE_PRIM, EDGE_A, EDGE_B, EDGE_OPPOSITE, EDGE_KIND = 0, 1, 2, 3, 4, 5, 9
# EDGE_SHAPE: offset of the shape's record; EDGE_A, EDGE_B: vertex numbers; EDGE_OPPOSITE: the third vertices of up to
# MAX_FACES adjacent faces, -1 for none
MAX_FACES = 4
EDGE_LINE, EDGE_SPHERE, EDGE_CROSSING, EDGE_TUBE, EDGE_CAP = range(5)
# Of a tube's piece EDGE_A is the side, 0 or 1; of a half ball at its end, the end, 0 or 1.
POINT_STRIDE = 3  # a sampled point of an edge: the edge's number, the place along it, whether the camera sees it
