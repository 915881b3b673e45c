import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openSafetensors } from '../../../main/model/safetensors.ts';
import { f32, toInt8, writeSafetensors } from '../../int8-folder.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { checkpointDigests, openTiny, tinyRun } from './tiny-run.ts';

const root = temporaryFolderOfFile();
const [plain, quantised] = [join(root, 'plain'), join(root, 'quantised')];
beforeAll(async () => {
  await openTiny(plain);
  cpSync(plain, quantised, { recursive: true });
  const stood = toInt8(quantised);
  const file = openSafetensors(join(plain, 'model.safetensors'));
  const parts = [...file.entries].map(([name, { shape }]) => {
    return [name, f32(shape, ...(stood.get(name) ?? file.read(name)))] as const;
  });
  file.close();
  writeSafetensors(plain, Object.fromEntries(parts));
});

describe('training from a quantised folder', () => {
  it('gives the steps of the model that its codes stand for, also resumed', async () => {
    const config = { max_steps: 2 };
    const expected = await tinyRun({ model: plain, config });
    const run = await tinyRun({ model: quantised, config });
    expect(run.steps).toEqual(expected.steps);
    const stopped = await tinyRun({ model: quantised, config, stopAfter: 1 });
    const resumed = await tinyRun({ model: quantised, config, resumeFrom: stopped.checkpoint });
    expect(checkpointDigests(resumed.checkpoint, true)).toEqual(checkpointDigests(run.checkpoint, true));
  });

  it('of all weights leaves a model that is not quantised, from which the next stage starts', async () => {
    const config = { max_steps: 1, use_peft: false };
    const { checkpoint } = await tinyRun({ model: quantised, config });
    expect(readFileSync(join(checkpoint, 'config.json'), 'utf8')).not.toContain('quant');
    const next = await tinyRun({ model: checkpoint, config: { max_steps: 1 } });
    expect(next.steps).toHaveLength(1);
  });
});
