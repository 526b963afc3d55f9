"""Random numbers: Owen-scrambled Sobol points, computed from (seed, pixel, sample, dimension) alone.

Dimensions come in pairs; each pair is a (0, 2)-sequence of its own, shuffled and scrambled by hashes of
(seed, pair), so that replay needs no state and no table (Burley, "Practical hash-based Owen scrambling",
JCGT 2020; the hash that scrambles is Vegdahl's improvement of Laine and Karras 2011).
All pixels share the sequences: each takes its own run of 2**pixel_bits points, in the order of a Z-curve, so
that the points of a pixel, and of every square of 2 x 2, 4 x 4, ... pixels, are well spread together (after
Ahmed and Wonka, "Screen-space blue-noise diffusion of Monte Carlo sampling error via hierarchical ordering of
pixels", 2020). A gradient is a sum over the film, and gains most. Every number has 24 bits, exact in f32, so
that the f32 and the f64 tier draw the same.
"""

from irys_ti.runtime import ti

# Pairs of dimensions: what each is for. A bounce uses PAIRS_PER_BOUNCE pairs from FIRST_BOUNCE on.
PAIR_FILM, PAIR_WAVELENGTH, FIRST_BOUNCE = 0, 1, 2
PAIR_LIGHT, PAIR_BSDF, PAIR_CHOICE, PAIRS_PER_BOUNCE = 0, 1, 2, 3


@ti.func
def u32(x):
    return ti.cast(x, ti.u32)


@ti.func
def mix(x):
    """A good 32-bit integer hash (Wellons' triple-round search, "lowbias32")."""
    x ^= x >> ti.u32(16)
    x *= ti.u32(0x7FEB352D)
    x ^= x >> ti.u32(15)
    x *= ti.u32(0x846CA68B)
    x ^= x >> ti.u32(16)
    return x


@ti.func
def combine(a, b):
    """Hash of an ordered pair."""
    return mix(a ^ (mix(b + ti.u32(0x9E3779B9)) + ti.u32(0x85EBCA6B)))


@ti.func
def reverse_bits(x):
    x = ((x >> ti.u32(1)) & ti.u32(0x55555555)) | ((x & ti.u32(0x55555555)) << ti.u32(1))
    x = ((x >> ti.u32(2)) & ti.u32(0x33333333)) | ((x & ti.u32(0x33333333)) << ti.u32(2))
    x = ((x >> ti.u32(4)) & ti.u32(0x0F0F0F0F)) | ((x & ti.u32(0x0F0F0F0F)) << ti.u32(4))
    x = ((x >> ti.u32(8)) & ti.u32(0x00FF00FF)) | ((x & ti.u32(0x00FF00FF)) << ti.u32(8))
    return (x >> ti.u32(16)) | (x << ti.u32(16))


@ti.func
def scramble_reversed(x, seed):
    """Owen scrambling of a number whose bits are reversed: each bit is flipped by a hash of those below."""
    x ^= x * ti.u32(0x3D20ADEA)
    x += seed
    x *= (seed >> ti.u32(16)) | ti.u32(1)
    x ^= x * ti.u32(0x05526C56)
    x ^= x * ti.u32(0x53A22864)
    return x


@ti.func
def pascal(x):
    """Multiply by Pascal's triangle mod 2: Sobol's second dimension, least significant bit first."""
    x ^= (x >> ti.u32(1)) & ti.u32(0x55555555)
    x ^= (x >> ti.u32(2)) & ti.u32(0x33333333)
    x ^= (x >> ti.u32(4)) & ti.u32(0x0F0F0F0F)
    x ^= (x >> ti.u32(8)) & ti.u32(0x00FF00FF)
    x ^= (x >> ti.u32(16)) & ti.u32(0x0000FFFF)
    return x


@ti.func
def unit(x):
    """The upper 24 bits as a number in [0, 1)."""
    return ti.cast(ti.cast(x >> ti.u32(8), ti.i32), float) * (1.0 / 16777216.0)


@ti.func
def stream(seed, group, run):
    """The key of a sequence of points; groups and runs of one seed are scrambled independently."""
    return combine(combine(u32(seed), u32(group)), u32(run))


@ti.func
def spread_bits(x):
    """The lower 16 bits, a zero between each two."""
    x &= ti.u32(0x0000FFFF)
    x = (x | (x << ti.u32(8))) & ti.u32(0x00FF00FF)
    x = (x | (x << ti.u32(4))) & ti.u32(0x0F0F0F0F)
    x = (x | (x << ti.u32(2))) & ti.u32(0x33333333)
    return (x | (x << ti.u32(1))) & ti.u32(0x55555555)


@ti.func
def film_sample(seed, group, x, y, sample, pixel_bits):
    """Sample number ``sample`` of pixel (x, y) in a group: the key of its sequence, and which point of it it is.

    A pixel that takes more than 2**pixel_bits samples starts another sequence.
    """
    bits = u32(pixel_bits)
    place = spread_bits(u32(x)) | (spread_bits(u32(y)) << ti.u32(1))
    run = u32(sample) >> bits
    return stream(seed, group, run), (place << bits) | (u32(sample) - (run << bits))


@ti.func
def sample_2d(key, sample, pair):
    """Point number ``sample`` of the pair of dimensions ``pair``: two numbers in [0, 1)."""
    h = combine(key, u32(pair))
    first = scramble_reversed(reverse_bits(u32(sample)), h)  # shuffles the order; is dimension 0 reversed
    index = reverse_bits(first)
    x = reverse_bits(scramble_reversed(index, mix(h ^ ti.u32(0xA511E9B3))))
    y = reverse_bits(scramble_reversed(pascal(index), mix(h ^ ti.u32(0x63D83595))))
    return unit(x), unit(y)


@ti.func
def sample_hashed(key, sample, pair):
    """One number in [0, 1) for a yes-or-no choice, where stratification gains nothing."""
    return unit(combine(combine(key ^ ti.u32(0x2545F491), u32(sample)), u32(pair)))
