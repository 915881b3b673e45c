import { describe, expect, it } from 'vitest';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { trySteps } from '../../../main/trainer/jobs/remote-preflight.ts';
import { openRemote } from '../../../main/trainer/tinker/open-remote.ts';
import { HASTE, remoteOf, remoteStart } from '../tinker/remote-run.ts';
import { openTinkerServer } from '../tinker/tinker-server.ts';
import { openTinyBase } from '../tinker/tiny-base.ts';

const tiny = await openTinyBase();

/** What is found, and how many steps the server made for it. */
async function tried(config: Partial<TrainConfig>) {
  const server = await openTinkerServer({ model: tiny.base });
  try {
    const prices = { prefill: 0, sample: 1e6, train: 0 };
    const start = remoteStart({ server, model: tiny.folder, config: { max_steps: 9, ...config } });
    const opened = await openRemote(start, remoteOf(server, { prices }), HASTE);
    const before = server.count('optim_step');
    const { metrics, samples, ...paces } = await trySteps(opened);
    await opened.close();
    const asked = server.seen.filter(({ route }) => route === 'asample').length;
    return { ...paces, metrics, samples, asked, steps: server.count('optim_step') - before };
  } finally {
    await server.close();
  }
}

describe('the trial of a run on a remote engine', () => {
  it('is a step after the first, which a server may compile in', async () => {
    const { metrics, steps, samples } = await tried({});
    expect(steps).toBe(2);
    expect(samples.length).toBeGreaterThan(0);
    expect(metrics['engine/cost']).toBe(metrics['engine/sample_tokens']);
    expect(metrics['engine/sample_tokens']).toBeGreaterThan(0);
  });

  it('counts sampling for its share where several steps use a generation', async () => {
    const { metrics, steps, asked, samples } = await tried({ num_iterations: 3 });
    // Steps 2 to 4: two that use the first generation, and one that samples the second.
    expect(steps).toBe(4);
    const tokens = metrics['engine/sample_tokens'] ?? 0;
    const perGeneration = samples.reduce((sum, { length }) => sum + length, 0);
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThan(perGeneration);
    expect(metrics['engine/cost']).toBeCloseTo(tokens, 9);
    expect(asked).toBeGreaterThan(1);
    expect(metrics['sampling/sampling_logp_difference/mean']).toBeLessThan(1e-5);
  });

  it('samples what the run starts from, and times a step of the warm-up too', async () => {
    const plain = await tried({});
    const warm = await tried({ warm_up_steps: 5, warm_up_batch_size: 2 });
    expect(warm.samples).toEqual(plain.samples);
    expect(warm.steps).toBe(4);
    expect(warm.warmUpSecondsPerStep).toBeGreaterThan(0);
    expect(warm.seconds).toBeCloseTo(9 * warm.secondsPerStep + 5 * (warm.warmUpSecondsPerStep ?? 0), 9);
  });

  it('is no longer than the run', async () => {
    expect((await tried({ num_iterations: 4, max_steps: 3 })).steps).toBe(3);
    expect((await tried({ max_steps: 1 })).metrics['engine/sample_tokens']).toBeGreaterThan(0);
  });
});
