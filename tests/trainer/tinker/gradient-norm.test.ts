import { describe, expect, it } from 'vitest';
import { remoteRun } from './remote-run.ts';
import { openTinkerServer } from './tinker-server.ts';
import { openTinyBase } from './tiny-base.ts';

const tiny = await openTinyBase();

/** A run on a server whose steps answer with these metrics. */
async function run(metrics: unknown) {
  const alter = (route: string, answer: unknown) => (route === 'optim_step' ? { metrics } : answer);
  const server = await openTinkerServer({ model: tiny.base, alter });
  try {
    const config = { max_steps: 4, collapse_patience: 2, pause_on_collapse: false };
    const { steps, events } = await remoteRun({ server, model: tiny.folder, config });
    const rules = events.flatMap((event) => (event.kind === 'warning' ? [event.rule] : []));
    return { norms: steps.map((step) => step.grad_norm), isOverflow: rules.includes('not_finite') };
  } finally {
    await server.close();
  }
}

describe('the gradient norm of a server', () => {
  it.each([null, {}, { 'loss:sum': 1 }])(
    "is absent where it says none, and that isn't an overflow: %j",
    async (metrics) => {
      expect(await run(metrics)).toEqual({ norms: Array(4).fill(undefined), isOverflow: false });
    },
  );

  it('ends the run where it is not a number: null in JSON', async () => {
    await expect(run({ grad_norm: null })).rejects.toThrow('The norm of the gradient is not a number');
  });
});
