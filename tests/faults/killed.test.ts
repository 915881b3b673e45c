/** Trainers and hosts killed at random moments: every run is listed, resumes, and ends like an uninterrupted one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { randomStream } from '../../main/random.ts';
import { openStore } from '../../main/store/index.ts';
import type { TrainConfig } from '../../main/trainer/config/config.ts';
import { contextOf, openTinyApp, overPorts } from '../api/transports.ts';
import { connectTo, startHost } from '../commands/serve-host.ts';
import { leftBy, tinyWorkspace } from '../services/tiny-workspace.ts';
import { until } from '../until.ts';

/**
 * Long enough to be killed often on a fast machine. Checkpoints are sparse, so that most kills cost steps; a generation
 * serves two steps, so that some fall into it.
 */
const config: Partial<TrainConfig> = { max_steps: 300, save_steps: 7, steps_per_generation: 2, sample_steps: 4 };

const seed = Number(process.env.BRAID_TEST_SEED ?? Date.now() % 1e6);
console.info(`killed at random moments: BRAID_TEST_SEED=${seed} repeats them`);
const random = randomStream(seed);

describe('kill -9', () => {
  it('of the trainer, six times, or of the host, three times, leaves what an uninterrupted run leaves', {
    timeout: 600_000,
  }, async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const began = performance.now();
    const whole = app.live.start(world.config(config));
    await app.live.outcome(whole);
    const wholeMs = performance.now() - began;
    const expected = leftBy(app.store, whole, true);
    expect(expected).toMatchObject({ state: 'done', step: 300 });
    /** When to kill, in milliseconds: from before the first sign of life to after many steps. */
    const moment = (): number => 100 + (random.next() * wholeMs) / 2;

    const { client } = await overPorts(contextOf(app));
    const runId = app.live.start(world.config(config));
    let kills = 0;
    for (; kills < 6; kills++) {
      const waited = moment();
      await sleep(waited);
      if (app.live.get(runId) === null) break;
      await client.runs.kill({ runId });
      await until(() => app.live.get(runId) === null);
      const [listed] = await client.runs.list({});
      // It had done all its steps, and was about to exit.
      if (listed?.state === 'done') break;
      expect(listed, `killed after ${waited} ms`).toMatchObject({ id: runId, state: 'interrupted' });
      expect(listed?.reason).toContain('SIGKILL');
      await client.runs.resume({ runId });
    }
    await app.live.outcome(runId);
    expect(kills).toBeGreaterThan(2);
    expect(leftBy(app.store, runId, true)).toEqual(expected);
    await app.close();

    let host = await startHost(world.root);
    let page = await connectTo(host);
    const { runId: hosted } = await page.runs.start({ config: world.config(config) as Record<string, unknown> });
    for (let kills = 0; kills < 3; kills++) {
      await sleep(moment());
      host.process.kill('SIGKILL');
      await host.exited;
      host = await startHost(world.root);
      page = await connectTo(host);
      const found = await page.runs.get({ runId: hosted });
      if (found.state === 'done') break;
      expect(found.state).toBe('interrupted');
      expect(found.reason).toContain('quit during the run');
      await page.runs.resume({ runId: hosted });
    }
    await until(async () => (await page.runs.get({ runId: hosted })).state === 'done');
    host.process.kill('SIGTERM');
    await host.exited;
    const store = openStore(world.store.file);
    expect(leftBy(store, hosted, true)).toEqual(expected);
    store.close();
  });
});
