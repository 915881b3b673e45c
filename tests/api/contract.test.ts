import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunNews } from '../../main/services/training/run-watch.ts';
import type { Change } from '../../main/services/workspace/changes.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { until } from '../until.ts';
import { contextOf, openTinyApp, overPorts, overSocket } from './transports.ts';

/** A run of seconds, started through the contract as a page does. */
const fast = { max_steps: 12, per_device_train_batch_size: 8, num_generations: 4, threads: 1, learning_rate: 0.01 };

async function openWorld(connect: typeof overPorts | typeof overSocket) {
  const world = await tinyWorkspace();
  const app = openTinyApp(world);
  const { client, close } = await connect(contextOf(app));
  const config = { ...fast, use_peft: true, model: world.model, dataset: world.dataset };
  return { world, app, client, close, config };
}

describe.each([
  ['a port', overPorts],
  ['a socket', overSocket],
])('the contract over %s', (_, connect) => {
  const open = () => openWorld(connect);

  it('starts a run, streams all of it, and lists it', async () => {
    const { client, config } = await open();
    const { runId } = await client.runs.start({ config });
    const news: RunNews[] = [];
    const controller = new AbortController();
    for await (const item of await client.runs.watch({ runId }, { signal: controller.signal })) {
      news.push(item);
      if (item.run.state === 'done' && item.live === null) break;
    }
    const steps = news.flatMap(({ points }) => points.map(({ step }) => step));
    expect(steps).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(news.flatMap(({ points }) => points).every(({ metrics }) => Number.isFinite(metrics.reward))).toBe(true);
    const [run] = await client.runs.list({});
    expect(run).toMatchObject({ id: runId, state: 'done', step: 12 });
    const { metricNames, checkpoints } = await client.runs.get({ runId });
    expect(metricNames).toContain('frac_reward_zero_std');
    expect(checkpoints.at(-1)).toMatchObject({ step: 12, kind: 'final' });
    const late = await client.runs.watch({ runId, afterStep: 7 });
    const { value } = (await late.next()) as { value: RunNews };
    expect(value.points.map(({ step }) => step)).toEqual([8, 9, 10, 11, 12]);
    const { points: _, rewoundTo: __, ...standing } = value;
    expect(await client.runs.standing({ runId })).toEqual(standing);
    await late.return();
  });

  it('says why a stream ended, even at its start', async () => {
    const { client } = await open();
    const stream = await client.playground.answer({ a: 'one', b: 'two', model: 'bundled:nonesuch' });
    await expect(stream.next()).rejects.toMatchObject({
      message: 'There is no model "bundled:nonesuch"',
      data: { code: 'MODEL_UNKNOWN', remedy: expect.stringContaining('Choose one from the list') },
    });
  });

  it('reports changes in batches, and stops listening when the reader leaves', async () => {
    const { client, app } = await open();
    const changes = await client.app.changes();
    const changed = reported(changes, 'settings');
    await sleep(50);
    await client.settings.set({ theme: 'dark' });
    expect(await changed).toEqual({ topic: 'settings', id: null });
    await client.settings.set({ auto_promote: true });
    expect(await client.settings.get()).toMatchObject({ theme: 'dark', auto_promote: true });
    await changes.return();
    await until(() => app.changes.listeners() === 0);
  });

  it('reports an invalid payload, path and state as typed errors', async () => {
    const { client, config } = await open();
    const refused = (code: string, message: RegExp) => ({
      code: 'REFUSED',
      defined: true,
      message: expect.stringMatching(message),
      data: { code, remedy: expect.toSatisfy((remedy) => remedy === null || typeof remedy === 'string') },
    });
    await expect(client.runs.get({ runId: 'one' as unknown as number })).rejects.toMatchObject(
      refused('BAD_REQUEST', /"runId": .*expected number/i),
    );
    await expect(client.runs.get({ runId: 99 })).rejects.toMatchObject(refused('RUN_UNKNOWN', /run with id 99/));
    await expect(client.runs.pause({ runId: 99 })).rejects.toMatchObject(refused('RUN_UNKNOWN', /run with id 99/));
    await expect(client.runs.start({ config: { ...config, dataset: '/etc/passwd' } })).rejects.toMatchObject(
      refused('PATH_OUTSIDE', /\/etc\/passwd/),
    );
    await expect(client.runs.start({ config: { ...config, num_generation: 4 } })).rejects.toMatchObject(
      refused('BAD_CONFIG', /did you mean "num_generations"/),
    );
    await expect(client.runs.start({ preset: '../../etc/passwd', config })).rejects.toMatchObject(
      refused('PRESET_UNKNOWN', /preset/),
    );
    const name = 'x'.repeat(501);
    await expect(client.runs.rename({ runId: 1, name })).rejects.toMatchObject(refused('BAD_REQUEST', /"name"/));
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`some_unknown_key_${i}`, i]));
    for (const call of [client.config.check({ config: many }), client.runs.start({ config: many })])
      await expect(call).rejects.toMatchObject(refused('BAD_REQUEST', /"config": .*at most 500 fields/));
    const nul = refused('BAD_REQUEST', /without NUL/);
    await expect(client.models.import({ path: 'models\0/etc', copy: false })).rejects.toMatchObject(nul);
    await expect(client.texts.list({ search: 'a\0b' })).rejects.toMatchObject(nul);
    await expect(client.runs.start({ config: { ...config, dataset: 'a\0.jsonl' } })).rejects.toMatchObject(nul);
    let deep: unknown = 1;
    for (let level = 0; level < 300; level++) deep = [deep];
    await expect(client.config.check({ config: { seed: deep } })).rejects.toMatchObject(
      refused('BAD_REQUEST', /at most 50 levels/),
    );
    expect(await client.runs.list({})).toEqual([]);
  });

  it('ends the streams of a page that is gone', async () => {
    const { client, app, close } = await open();
    const changes = await client.app.changes();
    const next = changes.next().catch(() => undefined);
    await until(() => app.changes.listeners() === 1);
    close();
    await until(() => app.changes.listeners() === 0);
    await Promise.race([next, sleep(1000)]);
  });
});

// The menu of the desktop does the same over a port.
describe('the contract', () => {
  it('pauses, resumes, stops and saves, and resumes the ended run', async () => {
    const { client, config } = await openWorld(overSocket);
    const { runId } = await client.runs.start({ config: { ...config, max_steps: 400, save_steps: 400 } });
    const state = async () => (await client.runs.get({ runId })).state;
    await until(async () => (await client.runs.get({ runId })).step >= 2);
    await client.runs.pause({ runId });
    await until(async () => (await state()) === 'paused');
    const { step } = await client.runs.get({ runId });
    await sleep(300);
    expect((await client.runs.get({ runId })).step).toBe(step);
    await client.runs.resume({ runId });
    await until(async () => (await client.runs.get({ runId })).step > step + 2);
    await client.runs.stop({ runId });
    await until(async () => (await client.app.status()).live.length === 0);
    const stopped = await client.runs.get({ runId });
    expect(stopped.state).toBe('stopped');
    expect(stopped.checkpoints.at(-1)?.step).toBe(stopped.step);
    await client.runs.resume({ runId, maxSteps: stopped.step + 3 });
    await until(async () => (await state()) === 'done');
    expect((await client.runs.get({ runId })).step).toBe(stopped.step + 3);
  });
});

/** The first change of that kind: the host reports others whenever they happen. */
async function reported(changes: AsyncIterator<readonly Change[]>, topic: Change['topic']): Promise<Change> {
  for (;;) {
    const { value, done } = await changes.next();
    if (done) throw new Error(`Expected a change of ${topic}, but the stream ended`);
    const found = (value as readonly Change[]).find((change) => change.topic === topic);
    if (found !== undefined) return found;
  }
}
