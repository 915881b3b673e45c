"""Makes fixtures/quantised/: for each method a file with the parts of one matrix "m.weight" [16, 128], as its own package
stores them, and what that package unpacks them to as "expected"; in configs.json what config.json says of each. GPTQ's
and AWQ's are their formula in torch, whose bits are those of AutoGPTQ 0.7.1 (QuantLinear of an identity matrix) and of
AutoAWQ 0.2.7 (dequantize_gemm) on the CPU.

Run from the repository root: python tests/parity/quantised.py   (pip install torch bitsandbytes mlx mlx-cpu compressed-tensors)
"""

import json
import pathlib
import shutil

import bitsandbytes.functional as bnb
import mlx.core as mx
import numpy as np
import torch
from compressed_tensors.compressors import FloatQuantizationCompressor, IntQuantizationCompressor, PackedQuantizationCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize

TARGET = pathlib.Path("tests/parity/fixtures/quantised")
ROWS, COLUMNS = 16, 128
CONFIGS = {}
torch.manual_seed(5)
WEIGHT = torch.randn(ROWS, COLUMNS) * 0.05


def write(name: str, config: dict, parts: dict, expected: torch.Tensor, dtype: str = "bfloat16") -> None:
    CONFIGS[name] = dict(dtype=dtype, **config)
    tensors = {f"m.{key}": value.contiguous() for key, value in parts.items()}
    save_file(tensors | dict(expected=expected.contiguous()), TARGET / f"{name}.safetensors")
    print(name, expected.dtype, (expected.float() - WEIGHT).abs().max().item())


def bitsandbytes() -> None:
    for name, kind, nested, dtype, block in [
        ("nf4", "nf4", False, torch.float32, 64), ("nf4-nested", "nf4", True, torch.bfloat16, 64),
        ("fp4", "fp4", False, torch.float16, 64), ("nf4-blocks-128", "nf4", True, torch.bfloat16, 128),
    ]:
        codes, state = bnb.quantize_4bit(WEIGHT.to(dtype), quant_type=kind, compress_statistics=nested, blocksize=block)
        parts = {"weight": codes} | {f"weight.{key}": value for key, value in state.as_dict(packed=True).items()}
        config = dict(quant_method="bitsandbytes", load_in_4bit=True, bnb_4bit_quant_type=kind)
        write(f"bitsandbytes-{name}", dict(quantization_config=config), parts, bnb.dequantize_4bit(codes, state))
    codes, scales, _ = bnb.int8_vectorwise_quant(WEIGHT.half())
    parts = {"weight": codes, "SCB": scales, "weight_format": torch.tensor(0, dtype=torch.uint8)}
    config = dict(quant_method="bitsandbytes", load_in_8bit=True)
    write("bitsandbytes-int8", dict(quantization_config=config), parts, bnb.int8_vectorwise_dequant(codes, scales).bfloat16())


def of_mlx(array: mx.array) -> torch.Tensor:
    if array.dtype == mx.bfloat16:
        return torch.from_numpy(np.array(array.view(mx.uint16))).view(torch.bfloat16)
    return torch.from_numpy(np.array(array))


def mlx() -> None:
    for bits, group, dtype in [(4, 64, mx.bfloat16), (8, 32, mx.float16), (3, 128, mx.bfloat16), (6, 64, mx.float16)]:
        parts = mx.quantize(mx.array(WEIGHT.numpy()).astype(dtype), group_size=group, bits=bits)
        expected = of_mlx(mx.dequantize(*parts, group_size=group, bits=bits))
        named = dict(zip(("weight", "scales", "biases"), map(of_mlx, parts)))
        write(f"mlx-{bits}", dict(quantization=dict(group_size=group, bits=bits)), named, expected)


def fp8() -> None:
    block = dict(quant_method="fp8", weight_block_size=[8, 64])
    blocks = WEIGHT.reshape(2, 8, 2, 64)
    grid = blocks.abs().amax(dim=(1, 3)) / 448
    codes = (blocks / grid[:, None, :, None]).to(torch.float8_e4m3fn).reshape(ROWS, COLUMNS)
    unpack = lambda codes, scales: Fp8Dequantize(None)._dequantize_one(codes, scales, torch.bfloat16)
    write("fp8-blocks", dict(quantization_config=block), {"weight": codes, "weight_scale_inv": grid}, unpack(codes, grid))
    scale = WEIGHT.abs().max() / 448
    codes = (WEIGHT / scale).to(torch.float8_e4m3fn)
    parts = {"weight": codes, "weight_scale": scale.reshape(1)}
    write("fp8-tensor", dict(quantization_config=dict(quant_method="fp8")), parts, unpack(codes, scale.reshape(1, 1)))


def compressed() -> None:
    classes = {"pack-quantized": PackedQuantizationCompressor, "int-quantized": IntQuantizationCompressor, "float-quantized": FloatQuantizationCompressor}
    cases = {
        "pack-4": ("pack-quantized", dict(num_bits=4, strategy="group", group_size=32)),
        "pack-4-asymmetric": ("pack-quantized", dict(num_bits=4, strategy="group", group_size=64, symmetric=False)),
        "pack-8": ("pack-quantized", dict(num_bits=8, strategy="channel")),
        "int-8": ("int-quantized", dict(num_bits=8, strategy="channel")),
        "float-8": ("float-quantized", dict(num_bits=8, type="float", strategy="tensor")),
        "float-8-blocks": ("float-quantized", dict(num_bits=8, type="float", strategy="block", block_structure=[8, 32])),
    }
    for name, (form, settings) in cases.items():
        scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**settings))
        size = settings.get("group_size", COLUMNS)
        groups = WEIGHT.reshape(ROWS, -1, size)
        largest, top = groups.abs().amax(-1), 448 if settings.get("type") == "float" else 2 ** (settings["num_bits"] - 1) - 1
        state = dict(weight=WEIGHT.bfloat16())
        if settings.get("symmetric", True):
            state["weight_scale"] = (largest / top).bfloat16()
        else:
            low, high = groups.amin(-1).clamp(max=0), groups.amax(-1).clamp(min=0)
            state["weight_scale"] = ((high - low) / 15).bfloat16()
            state["weight_zero_point"] = torch.round(-8 - low / state["weight_scale"]).clamp(-8, 7).to(torch.int8)
        if settings["strategy"] == "tensor":
            state["weight_scale"] = (WEIGHT.abs().max() / top).reshape(1).bfloat16()
        if settings["strategy"] == "block":
            state["weight_scale"] = (WEIGHT.reshape(2, 8, 4, 32).abs().amax(dim=(1, 3)) / top).bfloat16()
        parts = classes[form].compress(state, scheme)
        expected = classes[form].decompress(parts, scheme)["weight"]
        config = dict(quant_method="compressed-tensors", format=form, config_groups=dict(group_0=dict(targets=["Linear"], weights=settings)))
        write(f"compressed-{name}", dict(quantization_config=config), parts, expected)


def packed(codes: torch.Tensor, bits: int, order: list[int] = list(range(8))) -> torch.Tensor:
    """Codes [lines, n] in words [lines, n * bits / 32] as AutoGPTQ packs them; of AWQ eight at a time in another order."""
    out = np.zeros((codes.shape[0], codes.shape[1] * bits // 32), dtype=np.uint64)
    for i in range(codes.shape[1]):
        column = codes[:, i - i % 8 + order[i % 8]] if bits == 4 else codes[:, i]
        for bit in range(bits):
            at = i * bits + bit
            out[:, at // 32] |= ((column.numpy().astype(np.uint64) >> bit) & 1) << (at % 32)
    return torch.from_numpy(out.astype(np.uint32).view(np.int32))


def grouped(group: int, top: int, index: torch.Tensor):
    """Codes, zero points and scales by column groups, in float16."""
    groups = COLUMNS // group
    scales, zeros = torch.zeros(groups, ROWS), torch.zeros(groups, ROWS, dtype=torch.int64)
    for g in range(groups):
        part = WEIGHT[:, index == g]
        low, high = part.amin(1).clamp(max=0), part.amax(1).clamp(min=0)
        scales[g] = (high - low) / top
        zeros[g] = torch.round(-low / scales[g]).clamp(1, top).long()
    scales = scales.half()
    codes = (torch.round(WEIGHT.T / scales[index].float()) + zeros[index]).clamp(0, top).long()
    return codes, zeros, scales


def gptq() -> None:
    for name, bits, group, index, form in [
        ("4", 4, 32, torch.arange(COLUMNS) // 32, "gptq"), ("8", 8, 64, torch.arange(COLUMNS) // 64, "gptq_v2"),
        ("4-ordered", 4, 32, torch.randperm(COLUMNS) // 32, "gptq"),
    ]:
        codes, zeros, scales = grouped(group, 2**bits - 1, index)
        offset = 1 if form == "gptq" else 0
        rows = (zeros - offset) % 2**bits
        parts = {"qweight": packed(codes.T, bits).T, "qzeros": packed(rows, bits), "scales": scales, "g_idx": index.int()}
        expected = (scales[index] * (codes - zeros[index])).T
        config = dict(quant_method="gptq", bits=bits, group_size=group, checkpoint_format=form, desc_act=name == "4-ordered")
        write(f"gptq-{name}", dict(quantization_config=config), parts, expected)


def awq() -> None:
    index = torch.arange(COLUMNS) // 64
    codes, zeros, scales = grouped(64, 15, index)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    parts = {"qweight": packed(codes, 4, order), "qzeros": packed(zeros, 4, order), "scales": scales}
    config = dict(quant_method="awq", bits=4, group_size=64, version="gemm", zero_point=True)
    write("awq", dict(quantization_config=config), parts, ((codes - zeros[index]) * scales[index]).T)


if __name__ == "__main__":
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir()
    for make in (bitsandbytes, mlx, fp8, compressed, gptq, awq):
        make()
    (TARGET / "configs.json").write_text(json.dumps(CONFIGS, indent=1) + "\n")
