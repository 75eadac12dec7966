"""XXH3 with 64 bits, no seed: the hash by which a coordinator tells whether the topics of a group changed (KIP-1101).

Kafka writes it into a group's metadata, so a replay that knows the topics can foresee it. In pure Python, as the ring
asks for; it is worked out once for a topic as it is, not for each request. Source: the specification of xxHash.
"""

from __future__ import annotations

_MASK = 0xFFFFFFFFFFFFFFFF
_MASK_32 = 0xFFFFFFFF

_PRIME_32_1 = 0x9E3779B1
_PRIME_32_2 = 0x85EBCA77
_PRIME_32_3 = 0xC2B2AE3D
_PRIME_64_1 = 0x9E3779B185EBCA87
_PRIME_64_2 = 0xC2B2AE3D27D4EB4F
_PRIME_64_3 = 0x165667B19E3779F9
_PRIME_64_4 = 0x85EBCA77C2B2AE63
_PRIME_64_5 = 0x27D4EB2F165667C5
_PRIME_MX_1 = 0x165667919E3779F9
_PRIME_MX_2 = 0x9FB21C651E98DF25

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8"
    "fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb17"
    "0ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

_STRIPE = 64
_STRIPES_IN_BLOCK = (len(_SECRET) - _STRIPE) // 8


def xxh3_64(data: bytes) -> int:
    """Return the hash of some bytes as an unsigned 64-bit number."""
    size = len(data)
    if size <= 16:
        return _hash_short(data, size)
    if size <= 128:
        return _hash_up_to_128(data, size)
    return _hash_up_to_240(data, size) if size <= 240 else _hash_long(data, size)


def _read_64(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def _read_32(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "little")


def _swap(value: int) -> int:
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def _fold(left: int, right: int) -> int:
    """Multiply to 128 bits and fold the halves onto each other."""
    product = left * right
    return (product & _MASK) ^ (product >> 64)


def _avalanche(value: int) -> int:
    value ^= value >> 37
    value = value * _PRIME_MX_1 & _MASK
    return value ^ (value >> 32)


def _avalanche_64(value: int) -> int:
    value ^= value >> 33
    value = value * _PRIME_64_2 & _MASK
    value ^= value >> 29
    value = value * _PRIME_64_3 & _MASK
    return value ^ (value >> 32)


def _hash_short(data: bytes, size: int) -> int:
    if size > 8:
        low = _read_64(data, 0) ^ _read_64(_SECRET, 24) ^ _read_64(_SECRET, 32)
        high = _read_64(data, size - 8) ^ _read_64(_SECRET, 40) ^ _read_64(_SECRET, 48)
        return _avalanche((size + _swap(low) + high + _fold(low, high)) & _MASK)
    if size >= 4:
        keyed = _read_32(data, size - 4) + (_read_32(data, 0) << 32)
        keyed ^= _read_64(_SECRET, 8) ^ _read_64(_SECRET, 16)
        keyed ^= _rotate(keyed, 49) ^ _rotate(keyed, 24)
        keyed = keyed * _PRIME_MX_2 & _MASK
        keyed ^= (keyed >> 35) + size
        keyed = keyed * _PRIME_MX_2 & _MASK
        return keyed ^ (keyed >> 28)
    if size:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return _avalanche_64(combined ^ _read_32(_SECRET, 0) ^ _read_32(_SECRET, 4))
    return _avalanche_64(_read_64(_SECRET, 56) ^ _read_64(_SECRET, 64))


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _mix_16(data: bytes, offset: int, secret: int) -> int:
    return _fold(
        _read_64(data, offset) ^ _read_64(_SECRET, secret),
        _read_64(data, offset + 8) ^ _read_64(_SECRET, secret + 8),
    )


def _hash_up_to_128(data: bytes, size: int) -> int:
    total = size * _PRIME_64_1
    for pair in range((size - 1) // 32 + 1):
        total += _mix_16(data, 16 * pair, 32 * pair)
        total += _mix_16(data, size - 16 * (pair + 1), 32 * pair + 16)
    return _avalanche(total & _MASK)


def _hash_up_to_240(data: bytes, size: int) -> int:
    total = size * _PRIME_64_1
    for index in range(8):
        total += _mix_16(data, 16 * index, 16 * index)
    total = _avalanche(total & _MASK)
    for index in range(8, size // 16):
        total += _mix_16(data, 16 * index, 16 * (index - 8) + 3)
    total += _mix_16(data, size - 16, 136 - 17)
    return _avalanche(total & _MASK)


def _hash_long(data: bytes, size: int) -> int:
    lanes = [
        _PRIME_32_3,
        _PRIME_64_1,
        _PRIME_64_2,
        _PRIME_64_3,
        _PRIME_64_4,
        _PRIME_32_2,
        _PRIME_64_5,
        _PRIME_32_1,
    ]
    block = _STRIPE * _STRIPES_IN_BLOCK
    block_count = (size - 1) // block
    for index in range(block_count):
        for stripe in range(_STRIPES_IN_BLOCK):
            _accumulate(lanes, data, index * block + stripe * _STRIPE, stripe * 8)
        _scramble(lanes)
    rest = block_count * block
    for stripe in range((size - 1 - rest) // _STRIPE):
        _accumulate(lanes, data, rest + stripe * _STRIPE, stripe * 8)
    _accumulate(lanes, data, size - _STRIPE, len(_SECRET) - _STRIPE - 7)
    total = size * _PRIME_64_1 & _MASK
    for index in range(0, 8, 2):
        secret = 11 + 8 * index
        total += _fold(lanes[index] ^ _read_64(_SECRET, secret), lanes[index + 1] ^ _read_64(_SECRET, secret + 8))
    return _avalanche(total & _MASK)


def _accumulate(lanes: list[int], data: bytes, offset: int, secret: int) -> None:
    for lane in range(8):
        value = _read_64(data, offset + 8 * lane)
        keyed = value ^ _read_64(_SECRET, secret + 8 * lane)
        lanes[lane ^ 1] = (lanes[lane ^ 1] + value) & _MASK
        lanes[lane] = (lanes[lane] + (keyed & _MASK_32) * (keyed >> 32)) & _MASK


def _scramble(lanes: list[int]) -> None:
    base = len(_SECRET) - _STRIPE
    for lane in range(8):
        value = lanes[lane]
        value ^= value >> 47
        value ^= _read_64(_SECRET, base + 8 * lane)
        lanes[lane] = value * _PRIME_32_1 & _MASK
