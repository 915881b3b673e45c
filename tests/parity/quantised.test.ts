/** Against bitsandbytes, MLX, transformers and compressed-tensors: see quantised.py, which made the files. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { openWeights } from '../../main/model/open-weights.ts';
import { readQuantisation } from '../../main/model/quantised/settings.ts';
import { openSafetensors } from '../../main/model/safetensors.ts';
import { dequantise } from '../../main/tensor/quantised.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';

const fixtures = fileURLToPath(new URL('./fixtures/quantised', import.meta.url));
const configs = JSON.parse(readFileSync(join(fixtures, 'configs.json'), 'utf8')) as Readonly<Record<string, object>>;
const SHAPE = [16, 128];
const SIZE = 16 * 128;

let parent: string;
beforeAll(() => {
  parent = temporaryFolderOfFile();
});

function opened(name: string) {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(fixtures, `${name}.safetensors`), join(folder, 'model.safetensors'));
  const quantisation = readQuantisation(configs[name] ?? {}, name);
  const weights = openWeights(folder, { quantisation });
  const file = openSafetensors(join(fixtures, `${name}.safetensors`));
  const expected = {
    type: file.typeOf('expected'),
    bytes: file.readRaw('expected', 0, SIZE),
    floats: file.read('expected'),
  };
  file.close();
  return { weights, source: weights.source('m.weight', SHAPE), expected, quantisation };
}

describe('a quantised weight', () => {
  it.each(Object.keys(configs))('of %s has the bits of its own package', (name) => {
    const { weights, source, expected } = opened(name);
    expect(source.type).toBe(expected.type);
    expect(source.readRaw(0, SIZE).equals(expected.bytes)).toBe(true);
    // In parts that begin and end within rows.
    expect(source.readPart(77, 1234)).toEqual(expected.floats.slice(77, 77 + 1234));
    expect(source.read()).toEqual(expected.floats);
    weights.close();
  });

  it.each(['bitsandbytes-nf4', 'bitsandbytes-nf4-nested', 'bitsandbytes-int8', 'compressed-int-8'])(
    'of %s stays in its blocks where kernels compute with those',
    (name) => {
      const { weights, source, expected, quantisation } = opened(name);
      const kind = quantisation?.keptAs ?? 'nf4';
      expect(source.packed?.kind).toBe(kind);
      const halves = [0, 1].flatMap((half) => {
        const part = source.packed?.read((half * SIZE) / 2, SIZE / 2);
        return part === undefined ? [] : [...dequantise(part, kind, SIZE / 2)];
      });
      // Not rounded to 16 bits.
      halves.forEach((value, i) => {
        expect(Math.abs(value - (expected.floats[i] ?? 0))).toBeLessThanOrEqual(Math.abs(value) * 2 ** -8);
      });
      weights.close();
    },
  );
});
