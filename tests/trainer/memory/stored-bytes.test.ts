import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeSafetensors } from '../../../main/model/safetensors.ts';
import { storedBytes } from '../../../main/trainer/memory/stored-bytes.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const matrix = { name: 'w', shape: [8, 8], data: new Float32Array(64) };
const norm = { name: 'n', shape: [8], data: new Float32Array(8) };

describe('storedBytes', () => {
  it('is the size of most numbers in all files', () => {
    const folder = join(temporaryFolder(), 'model');
    mkdirSync(folder);
    const write = (matrices: 'F32' | 'F16', norms: 'F32' | 'F16'): void => {
      writeFileSync(join(folder, '1.safetensors'), encodeSafetensors([matrix], {}, matrices));
      writeFileSync(join(folder, '2.safetensors'), encodeSafetensors([norm], {}, norms));
    };
    const weight_map = { w: '1.safetensors', n: '2.safetensors' };
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map }));
    write('F32', 'F32');
    expect(storedBytes(folder)).toBe(4);
    write('F16', 'F32');
    expect(storedBytes(folder)).toBe(2);
    write('F32', 'F16');
    expect(storedBytes(folder)).toBe(4);
  });

  it('is the larger size where the files cannot be read', () => {
    expect(storedBytes(join(temporaryFolder(), 'none'))).toBe(4);
  });
});
