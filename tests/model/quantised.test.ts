/** Quantised folders made here, by the formulas of their methods written out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { encodeModelConfig } from '../../main/model/export.ts';
import { loadModel } from '../../main/model/load.ts';
import { openMergedModel } from '../../main/model/merge.ts';
import { disposeModel, modelParameters } from '../../main/model/model.ts';
import { isLinearWeight } from '../../main/model/names.ts';
import { openWeights } from '../../main/model/open-weights.ts';
import { heldWords, readQuantisation } from '../../main/model/quantised/settings.ts';
import { readModelFacts } from '../../main/trainer/memory/model-facts.ts';
import { storedBytes } from '../../main/trainer/memory/stored-bytes.ts';
import { f32, type Part, toInt8, writeSafetensors } from '../int8-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { fault } from './faults.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const write = (parts: Readonly<Record<string, Part>>): void => writeSafetensors(folder, parts);

const settingsOf = (settings: object) => readQuantisation({ quantization_config: settings, dtype: 'float32' }, 'it');
function read(settings: object, shape: readonly number[]): number[] {
  const weights = openWeights(folder, { quantisation: settingsOf(settings) });
  try {
    return [...weights.source('m.weight', shape).read()];
  } finally {
    weights.close();
  }
}

const i32 = (shape: readonly number[], ...values: number[]): Part => ({
  dtype: 'I32',
  shape,
  data: Int32Array.from(values),
});
const GPTQ = { quant_method: 'gptq', bits: 4, group_size: 4 };
/** Eight columns and eight rows; column c of row r has the code (r + c) mod 16. */
const ROWS = [0, 1, 2, 3, 4, 5, 6, 7];
const gptq = (): Record<string, Part> => ({
  'm.qweight': i32([1, 8], ...ROWS.map((r) => ROWS.reduce((word, c) => word | (((r + c) % 16) << (4 * c)), 0))),
  'm.qzeros': i32([2, 1], 0x77777777, 0x22222222),
  'm.scales': f32([2, 8], ...Array(8).fill(0.5), ...Array(8).fill(2)),
});
const MLX = { group_size: 64, bits: 4 };
const mlx = (): Record<string, Part> => ({
  'm.weight': { dtype: 'U32', shape: [1, 8], data: Uint32Array.from(Array(8).fill(0x76543210)) },
  'm.scales': f32([1, 1], 0.25),
  'm.biases': f32([1, 1], -1),
});

describe('a quantised folder', () => {
  it('of GPTQ is (code − zero point − 1) · scale, by groups of columns', () => {
    write(gptq());
    const expected = ROWS.flatMap((r) => ROWS.map((c) => (c < 4 ? (r + c - 8) * 0.5 : (r + c - 3) * 2)));
    expect(read(GPTQ, [8, 8])).toEqual(expected);
  });

  it('of GPTQ finds the groups of columns in another order', () => {
    write({ ...gptq(), 'm.g_idx': i32([8], 1, 0, 1, 0, 1, 0, 1, 0) });
    expect(read(GPTQ, [8, 8]).slice(0, 4)).toEqual([(0 - 3) * 2, (1 - 8) * 0.5, (2 - 3) * 2, (3 - 8) * 0.5]);
  });

  it('of MLX is scale · code + bias', () => {
    write(mlx());
    expect(read(MLX, [1, 64])).toEqual(Array.from({ length: 64 }, (_, i) => 0.25 * (i % 8) - 1));
  });

  it('of FP8 has sign, exponent and fraction, and the scale of the matrix', () => {
    const codes = Uint8Array.from([0x38, 0xb8, 0x01, 0x7e]);
    write({ 'm.weight': { dtype: 'F8_E4M3', shape: [2, 2], data: codes }, 'm.weight_scale': f32([1], 2) });
    expect(read({ quant_method: 'fp8' }, [2, 2])).toEqual([2, -2, 2 * 2 ** -9, 896]);
  });

  it('of FP8 has blocks that go over its end', () => {
    const codes = new Uint8Array(3 * 3).fill(0x38);
    const grid = f32([2, 2], 1, 2, 3, 4);
    write({ 'm.weight': { dtype: 'F8_E4M3', shape: [3, 3], data: codes }, 'm.weight_scale_inv': grid });
    const settings = { quant_method: 'fp8', weight_block_size: [2, 2] };
    expect(read(settings, [3, 3])).toEqual([1, 1, 2, 1, 1, 2, 3, 3, 4]);
  });

  it('of bitsandbytes has int8 rows', () => {
    const codes = Int8Array.from([127, -127, 0, 1]);
    write({ 'm.weight': { dtype: 'I8', shape: [2, 2], data: codes }, 'm.SCB': f32([2], 127, 254) });
    // Its first versions named no method.
    for (const method of [{ quant_method: 'bitsandbytes' }, {}])
      expect(read({ ...method, load_in_8bit: true }, [2, 2])).toEqual([127, -127, 0, 2]);
  });

  it('keeps matrices that its method left alone', () => {
    write({ 'm.weight': f32([1, 2], 3, 4) });
    for (const settings of [GPTQ, MLX, { quant_method: 'fp8' }, { quant_method: 'bitsandbytes' }])
      expect(read(settings, [1, 2])).toEqual([3, 4]);
  });

  const strange: readonly (readonly [string, object, Record<string, Part>, readonly number[], string, string])[] = [
    ['codes of another shape', GPTQ, gptq(), [8, 16], 'BAD_SHAPE', '"m.qweight" of shape [2, 8]'],
    ['no zero points', GPTQ, without(gptq(), 'm.qzeros'), [8, 8], 'TENSOR_MISSING', '"m.qzeros"'],
    [
      'a group that does not exist',
      GPTQ,
      { ...gptq(), 'm.g_idx': i32([8], 0, 0, 0, 0, 9, 0, 0, 0) },
      [8, 8],
      'BAD_SHAPE',
      'got 9',
    ],
    [
      'scales that are NaN',
      GPTQ,
      { ...gptq(), 'm.scales': f32([2, 8], ...Array(16).fill(Number.NaN)) },
      [8, 8],
      'NOT_FINITE',
      '"m.scales"',
    ],
    [
      'codes of another type',
      GPTQ,
      { ...gptq(), 'm.qweight': f32([1, 8], ...Array(8).fill(0)) },
      [8, 8],
      'UNSUPPORTED_DTYPE',
      'I32',
    ],
    [
      'groups that are not whole',
      MLX,
      { ...mlx(), 'm.scales': f32([1, 3], 1, 1, 1) },
      [1, 64],
      'BAD_SHAPE',
      '"m.scales"',
    ],
    [
      'NaN among its FP8 numbers',
      { quant_method: 'fp8' },
      {
        'm.weight': { dtype: 'F8_E4M3', shape: [1, 2], data: Uint8Array.from([0x7f, 0]) },
        'm.weight_scale': f32([1], 1),
      },
      [1, 2],
      'NOT_FINITE',
      '"m.weight"',
    ],
    [
      'scales of blocks that nobody named',
      { quant_method: 'fp8' },
      {
        'm.weight': { dtype: 'F8_E4M3', shape: [4, 4], data: new Uint8Array(16) },
        'm.weight_scale_inv': f32([2, 2], 1, 1, 1, 1),
      },
      [4, 4],
      'BAD_SHAPE',
      '[2, 2]',
    ],
    [
      'rotations of what it is multiplied with',
      { quant_method: 'compressed-tensors', format: 'pack-quantized', transform_config: { config_groups: { R4: {} } } },
      {},
      [1, 64],
      'BAD_MODEL_CONFIG',
      'transform_config',
    ],
    [
      'a state that is not JSON',
      { quant_method: 'bitsandbytes', load_in_4bit: true },
      {
        'm.weight': { dtype: 'U8', shape: [32, 1], data: new Uint8Array(32) },
        'm.weight.absmax': f32([1], 1),
        'm.weight.quant_state.bitsandbytes__fp4': { dtype: 'U8', shape: [3], data: Uint8Array.from([1, 2, 3]) },
      },
      [1, 64],
      'BAD_SHAPE',
      'no JSON',
    ],
  ];
  it.each(strange)('is refused for %s', (_, settings, parts, shape, code, named) => {
    write(parts);
    const [got, message] = fault(() => read(settings, shape));
    expect([got, message]).toEqual([code, expect.stringContaining(named)]);
  });
});

describe('what a run says of a quantised folder', () => {
  const nf4 = settingsOf({ quant_method: 'bitsandbytes', load_in_4bit: true, bnb_4bit_quant_type: 'nf4' });
  it.each([
    ['nf4', 'webgpu', '; weights kept in 4 bits, as the folder has them (bitsandbytes nf4)'],
    ['nf4', 'native', '; weights unpacked from 4 bits (bitsandbytes nf4) to float32'],
    ['float32', 'native', '; weights unpacked from 4 bits (bitsandbytes nf4) to float32'],
    ['stored', 'webgpu', "; weights unpacked from 4 bits (bitsandbytes nf4) to the folder's precision"],
  ] as const)('of %s on %s is true', (precision, backend, words) => {
    expect(nf4 && heldWords(nf4, precision, backend)).toBe(words);
  });
});

describe('a whole folder of int8', () => {
  async function quantised(): Promise<ReadonlyMap<string, Float32Array>> {
    disposeModel(await writeTinyModel(folder));
    return toInt8(folder);
  }

  it('loads as what its codes stand for, and says so', async () => {
    const stood = await quantised();
    const {
      dtypes,
      quantised: words,
      config,
      parameters,
    } = readModelFacts({ base: folder, adapter: null, tokenizer: folder });
    expect([dtypes, words]).toEqual([['bitsandbytes int8, 8 bits'], expect.stringContaining('rounded to 8 bits')]);
    expect(parameters).toBe(3376);
    // Rows of 16 are no whole blocks of 64: the page promises no kernel for them.
    expect([config.quantisation?.keptAs, words?.includes('webgpu')]).toEqual([null, false]);
    // Unpacked to the type that config.json names.
    expect(storedBytes(folder)).toBe(4);
    const model = loadModel(folder, 16);
    const loaded = modelParameters(model).filter(({ name }) => isLinearWeight(name));
    expect(loaded.map(({ name, value }) => [name, value.dataSync()])).toEqual(
      loaded.map(({ name }) => [name, stood.get(name)]),
    );
    disposeModel(model);
  });

  it('is merged into one that is not quantised', async () => {
    const stood = await quantised();
    const { config, tensors, close } = openMergedModel(folder, null);
    const q = tensors.find(({ name }) => name.endsWith('q_proj.weight'));
    expect([...(q?.pieces() ?? [])].flatMap((piece) => [...piece])).toEqual([...(stood.get(q?.name ?? '') ?? [])]);
    const written = encodeModelConfig(config, 'F32', JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')));
    expect(written).not.toContain('quantization');
    close();
  });
});

function without(parts: Record<string, Part>, name: string): Record<string, Part> {
  return Object.fromEntries(Object.entries(parts).filter(([key]) => key !== name));
}
