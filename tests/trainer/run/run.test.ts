import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import { openControl } from '../../../main/trainer/loops/control.ts';
import { ACTIVATION_MB } from '../../../main/trainer/memory/environment.ts';
import type { TrainerStart } from '../../../main/trainer/protocol/start.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { runTraining } from '../../../main/trainer/run/run.ts';
import { tinyConfig } from '../../left-by.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { writeTinyModel } from '../../tiny-model.ts';

const folder = temporaryFolderOfFile();
const model = join(folder, 'model');
const kernelsFile = buildKernels();
beforeAll(async () => disposeModel(await writeTinyModel(model)));

/** A whole run; `turns` has the events in order, with a mark at each turn of the event loop. */
async function run(changes: Partial<TrainConfig>, more: Partial<TrainerStart> = {}) {
  const events: TrainerEvent[] = [];
  const turns: string[] = [];
  let running = true;
  const turn = (): void => {
    turns.push('turn');
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  const start: TrainerStart = {
    kind: 'start',
    config: parseConfig({ ...tinyConfig, backend: 'wasm', max_steps: 2, ...changes }),
    task: 'interleave',
    rewardWorker: '',
    modelFolder: model,
    records: tinyDataset().train,
    evalRecords: [],
    outputDir: join(folder, 'outputs'),
    resumeFrom: null,
    estimate: null,
    kernelsFile,
    ...more,
  };
  await runTraining(
    start,
    openControl(() => undefined),
    (event) => {
      events.push(event);
      turns.push(event.kind);
    },
  );
  running = false;
  const find = <K extends TrainerEvent['kind']>(kind: K) =>
    events.find((event): event is Extract<TrainerEvent, { kind: K }> => event.kind === kind);
  return { find, turns };
}

describe('runTraining', () => {
  it('is ready, and heard, before it estimates; and gives signs of life in everything that takes long', async () => {
    const { turns } = await run({});
    const [ready, estimate, step] = ['ready', 'estimate', 'step'].map((kind) => turns.indexOf(kind)) as [
      number,
      number,
      number,
    ];
    expect(turns.slice(0, ready)).toContain('alive');
    expect(turns.slice(ready, estimate)).toContain('turn');
    expect(turns[estimate + 1]).toBe('turn');
    // Loading: one for each weight. Estimate and step: several for each pass and token.
    const alive = (from: number, to: number) => turns.slice(from, to).filter((kind) => kind === 'alive').length;
    expect(alive(0, ready)).toBeGreaterThan(10);
    expect(alive(ready, estimate)).toBeGreaterThan(50);
    expect(alive(estimate, step)).toBeGreaterThan(50);
  });

  it('uses what a pre-flight check estimated', async () => {
    const estimate = { secondsPerStep: 123, seconds: 1, memoryBytes: 7 };
    const { find, turns } = await run({ max_steps: 4 }, { estimate });
    expect(find('estimate')).toMatchObject({ secondsPerStep: 123, seconds: 4 * 123, memoryBytes: 7 });
    const between = turns.slice(turns.indexOf('ready'), turns.indexOf('estimate'));
    expect(between).not.toContain('alive');
  });

  it('estimates a resumed run from its own steps, with the activation memory that it began with', async () => {
    process.env[ACTIVATION_MB] = '300';
    const first = await run({ save_steps: 1 });
    process.env[ACTIVATION_MB] = '600';
    const checkpoint = first.find('checkpoint')?.path ?? '';
    const second = await run({ max_steps: 3 }, { resumeFrom: checkpoint });
    const fresh = await run({});
    delete process.env[ACTIVATION_MB];
    expect(first.find('estimate')?.activationMb).toBe(300);
    expect(fresh.find('estimate')?.activationMb).toBe(600);
    expect(second.find('estimate')).toMatchObject({
      activationMb: 300,
      secondsPerStep: first.find('step')?.metrics.step_time,
    });
    const between = second.turns.slice(second.turns.indexOf('ready'), second.turns.indexOf('estimate'));
    expect(between).not.toContain('alive');
  });
});
