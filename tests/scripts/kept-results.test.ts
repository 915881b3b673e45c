import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differenceBetween, readResults, weightsDigest } from '../../scripts/kept-results.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('differenceBetween', () => {
  const own = { model_sha256: 'a', options: { steps: 60, stages: [10, 25], rate: undefined } };

  it('names what differs, and nothing in a result as it was stored', () => {
    expect(differenceBetween(own, JSON.parse(JSON.stringify(own)))).toBeNull();
    expect(differenceBetween(own, { ...own, model_sha256: 'b' })).toBe("the model's weights");
    expect(differenceBetween(own, { model_sha256: 'a', options: { steps: 2, stages: [10], beta: 0 } })).toBe(
      'steps (60, not 2), stages ([10,25], not [10]), beta (none, not 0)',
    );
  });

  it('holds for a result from before weights and options were stored', () => {
    expect(differenceBetween(own, {})).toBe("the model's weights");
  });
});

describe('readResults and weightsDigest', () => {
  it('read a folder, which may not be there', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'seed-1.json'), '{"seed": 1}');
    writeFileSync(join(folder, 'model.safetensors'), 'abc');
    expect([...readResults(folder)]).toEqual([['seed-1.json', { seed: 1 }]]);
    expect(readResults(join(folder, 'none')).size).toBe(0);
    expect(weightsDigest(folder)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
