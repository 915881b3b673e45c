import { describe, expect, it } from 'vitest';
import type { BraidError } from '../../../main/errors.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { HASTE, remoteRun } from './remote-run.ts';
import { openTinkerServer, type TinkerServer } from './tinker-server.ts';
import { openTinyBase } from './tiny-base.ts';

const { folder, base } = await openTinyBase();

/** A run of three steps, in which the n-th request of a route is answered so by a gateway. */
async function runBehind(status: number, route: string, n: number) {
  const server: TinkerServer = await openTinkerServer({
    model: base,
    fault: (seen, before) =>
      seen.route === route && before.filter((one) => one.route === route).length === n - 1
        ? { kind: 'answer', status, body: 'Unavailable' }
        : null,
  });
  const events: TrainerEvent[] = [];
  try {
    const error = await remoteRun({ server, model: folder, config: { max_steps: 3 } }, events).then(
      () => null,
      (thrown: BraidError) => thrown,
    );
    return { error, server, steps: events.filter(({ kind }) => kind === 'step').length };
  } finally {
    await server.close();
  }
}

describe('a gateway before the server', () => {
  it.each([502, 503, 504])(
    'answers %i when the work may be done: the request is not sent again, the run ends',
    async (status) => {
      const { error, server, steps } = await runBehind(status, 'optim_step', 5);
      const message = expect.stringContaining(`A gateway answered ${status}`);
      expect(error).toMatchObject({ code: 'ENGINE_ANSWER_LOST', message });
      expect([server.count('optim_step'), steps]).toEqual([5, 2]);
    },
  );

  it.each([502, 503, 504])('answers %i to a question, which is asked again', async (status) => {
    const { error, steps } = await runBehind(status, 'retrieve_future', 9);
    expect([error, steps]).toEqual([null, 3]);
  });
});

describe('the end of a run', () => {
  it("leaves no sampler's weights on the server", async () => {
    const server = await openTinkerServer({ model: base });
    await remoteRun({ server, model: folder, config: { max_steps: 2 } });
    expect(server.models.saved.filter((path) => path.includes('/sampler_weights/'))).toEqual([]);
    await server.close();
  });

  it("doesn't wait for a server that can't tidy up", async () => {
    const server = await openTinkerServer({
      model: base,
      fault: ({ route }, before) => {
        // The first one ends the measurement before the run.
        const unloads = route === 'unload_model' && before.some((one) => one.route === route);
        return unloads || /sampler_weights/.test(route)
          ? { kind: 'answer', status: 429, body: { detail: 'busy' } }
          : null;
      },
    });
    const began = performance.now();
    await remoteRun({ server, model: folder, config: { max_steps: 2 } }, [], { ...HASTE, tidyMs: 200 });
    expect(performance.now() - began).toBeLessThan(HASTE.totalMs / 2);
    await server.close();
  }, 60_000);
});
