import { describe, expect, it } from 'vitest';
import { tinyDataset } from '../../tiny-dataset.ts';
import { remoteRun } from './remote-run.ts';
import { openTinkerServer } from './tinker-server.ts';
import { openTinyBase } from './tiny-base.ts';

const tiny = await openTinyBase();

const { train, test } = tinyDataset();

/** Two steps, evaluated at the start and after each of so many; what they cost, and the evaluations. */
async function costs(evalSteps: number) {
  const server = await openTinkerServer({ model: tiny.base, adapterSeed: 1 });
  try {
    const { steps, events } = await remoteRun({
      server,
      model: tiny.folder,
      records: train,
      evalRecords: test,
      remote: { prices: { prefill: 1, sample: 2, train: 3 } },
      config: { max_steps: 2, eval_steps: evalSteps },
    });
    const evaluated = events.flatMap((event) => (event.kind === 'evaluation' ? [event.metrics] : []));
    return { steps: steps.map((step) => step['engine/cost']), tokens: steps, evaluated };
  } finally {
    await server.close();
  }
}

describe('what evaluations on a remote engine cost', () => {
  it("is theirs, the last one's too, and not the next step's", async () => {
    const without = await costs(0);
    const { steps, tokens, evaluated } = await costs(1);
    expect(steps).toEqual(without.steps);
    expect(tokens.map((step) => step['engine/sample_tokens'])).toEqual(
      without.tokens.map((step) => step['engine/sample_tokens']),
    );
    expect(evaluated).toHaveLength(3);
    for (const { eval_engine_cost: cost } of evaluated) expect(cost).toBeGreaterThan(0);
  });
});
