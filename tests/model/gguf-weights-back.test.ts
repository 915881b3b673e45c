import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GgufType, ggufPieces } from '../../main/model/gguf/file.ts';
import { ggufTensors } from '../../main/model/gguf/tensors.ts';
import { compareWeightsBack } from '../../main/model/gguf/weights-back.ts';
import { type MergedModel, openMergedModel } from '../../main/model/merge.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';

const folder = temporaryFolderOfFile();
let merged: MergedModel;
beforeAll(async () => {
  await writeTinyModel(join(folder, 'model'));
  merged = openMergedModel(join(folder, 'model'), null);
});
afterAll(() => merged.close());

function written(type: GgufType): string {
  const file = join(folder, `${type}.gguf`);
  const metadata = { 'general.architecture': { type: 'string', value: 'llama' } } as const;
  writeFileSync(file, Buffer.concat([...ggufPieces(metadata, ggufTensors(merged, type))]));
  return file;
}

describe('compareWeightsBack', () => {
  it.each([
    ['F32', 0, 0],
    ['F16', 1e-9, 1e-3],
    ['Q8_0', 1e-9, 2e-2],
  ] as const)('finds the weights of a %s file as close as the type is', (type, least, most) => {
    const { tensors, largest_difference } = compareWeightsBack(written(type), merged, () => undefined);
    expect(tensors).toBe(merged.tensors.length);
    expect(largest_difference).toBeGreaterThanOrEqual(least);
    expect(largest_difference).toBeLessThanOrEqual(most);
  });

  it('refuses a file with another weight', () => {
    const file = written('F16');
    const bytes = readFileSync(file);
    // The last tensor's last number but one; the file may end in padding.
    const at = bytes.length - 64;
    bytes.writeUInt16LE(bytes.readUInt16LE(at) ^ 0x4000, at);
    writeFileSync(file, bytes);
    expect(() => compareWeightsBack(file, merged, () => undefined)).toThrow(/read back, .* differs by|finite/);
  });
});
