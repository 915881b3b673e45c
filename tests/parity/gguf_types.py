"""Prints the digests in gguf.test.ts: what the gguf package for Python reads from the same bytes."""

import hashlib
import warnings

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

warnings.filterwarnings("ignore")
TYPES = "F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL".split()
NUMBERS = 64 * 256


def random_bytes(count):
    state = 1
    out = np.empty(count, np.uint8)
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        out[i] = state >> 24
    return out


for name in TYPES:
    kind = GGMLQuantizationType[name]
    block, width = GGML_QUANT_SIZES[kind]
    raw = random_bytes(NUMBERS // block * width).reshape(64, -1)
    numbers = np.ascontiguousarray(dequantize(raw, kind).astype(np.float32)).reshape(-1)
    # The bits of NaN aren't defined.
    numbers[np.isnan(numbers)] = 0
    print(f"  {name}: '{hashlib.sha256(numbers.tobytes()).hexdigest()}',")
