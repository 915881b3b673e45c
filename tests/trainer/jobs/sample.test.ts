import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import { runJob } from '../../../main/trainer/jobs/run-job.ts';
import type { SampleJob, SampleResult } from '../../../main/trainer/jobs/sample.ts';
import type { JobEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { agreedTo, guessTask } from '../../tasks/openenv/served-task.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';

describe('runSampleJob', () => {
  it('plays the environment of a server that was agreed to', async () => {
    const folder = join(temporaryFolder(), 'model');
    disposeModel(await writeTinyModel(folder));
    const task = guessTask({ action: { guess: '{seed}', said: '{completion}' } });
    const job: SampleJob = {
      kind: 'sample',
      task,
      rewardWorker: '',
      rewardAccess: agreedTo(task),
      models: [{ name: 'tiny', base: folder, adapter: null, tokenizer: folder }],
      records: [openTask(task, '').parseRecord({ seed: 4 })],
      samples: 2,
      temperature: 1,
      seed: 1,
      batchSize: 1,
      maxCompletionLength: null,
      backend: 'wasm',
      threads: 1,
      kernelsFile: buildKernels(),
    };
    const events: JobEvent[] = [];
    await runJob(job, (event) => events.push(event));
    const last = events.at(-1);
    if (last?.kind !== 'result') throw new Error(`Expected a result, got ${JSON.stringify(last)}`);
    const [model] = (last.value as SampleResult).models;
    expect(model?.completions[0]?.map(({ messages }) => messages?.at(-1)?.content)).toEqual(
      [0, 1].map(() => expect.stringMatching(/^Right\. \d+$/)),
    );
  });
});
