import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openTiny, tinyRun } from './tiny-run.ts';

const folder = temporaryFolderOfFile();
const { model } = await openTiny();

describe.each([
  ['LoRA', true],
  ['all weights', false],
])('a stage from a checkpoint: %s', (_, use_peft) => {
  it('measures its KL from that checkpoint, after a resume too', async () => {
    const first = await tinyRun({ model, config: { use_peft, max_steps: 4, learning_rate: 0.03 } });
    const from_checkpoint = join(folder, `from-${use_peft}`);
    cpSync(first.checkpoint, from_checkpoint, { recursive: true });
    const config = { use_peft, from_checkpoint, beta: 0.05, learning_rate: 0.03 };

    const whole = await tinyRun({ model, config });
    expect(whole.steps[0]?.kl).toBe(0);
    expect(whole.steps.at(-1)?.kl).toBeGreaterThan(1e-4);
    const stopped = await tinyRun({ model, config, stopAfter: 3 });
    const resumed = await tinyRun({ model, config, resumeFrom: stopped.checkpoint });
    expect(resumed.steps).toEqual(whole.steps.slice(3));
    // A reference taken from the resumed weights would start at 0 again.
    expect(resumed.steps[0]?.kl).toBeGreaterThan(1e-4);

    const fromModel = await tinyRun({ model, config: { ...config, from_checkpoint: null } });
    expect(fromModel.steps[0]?.reward).not.toBe(whole.steps[0]?.reward);
  });
});
