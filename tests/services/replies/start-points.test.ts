import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { experimentName } from '../../../main/services/replies/start-points.ts';
import { openTinyClient } from '../../api/transports.ts';
import { until } from '../../until.ts';
import { replyLines } from '../reply-lines.ts';

const refused = (code: string) => ({ data: expect.objectContaining({ code }) });

describe('what the methods start from', () => {
  it("is the presets' model and the newest baseline until the user chooses", async () => {
    const { client } = await openTinyClient();
    expect(await client.replies.desk()).toMatchObject({ model: null, start: null });
    await expect(client.replies.choose({ model: 'folder:/nowhere' })).rejects.toMatchObject(refused('MODEL_UNKNOWN'));
    await expect(client.replies.choose({ start: 'bundled:tiny' })).rejects.toMatchObject(refused('NO_CHECKPOINT'));
  });

  it('is any model, then any checkpoint: its adapter is the reference of the KL', async () => {
    const { world, app, client } = await openTinyClient();
    await client.replies.choose({ model: 'workspace:tiny-test' });
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(40)]) });
    await client.replies.split({ ratio: 0.5, seed: 1 });
    const { runId } = await client.replies.start({ method: 'baseline', seed: 5 });
    await app.live.outcome(runId);
    const fitted = await client.runs.get({ runId });
    expect(fitted).toMatchObject({ name: 'baseline on tiny-test/seed_5', state: 'done', model: world.model });
    expect(fitted.evaluation?.n).toBeGreaterThan(0);

    const ref = `checkpoint:${fitted.checkpoints.at(-1)?.id}`;
    await client.replies.choose({ start: ref });
    const desk = await client.replies.desk();
    expect(desk.start).toMatchObject({ ref, problem: null });
    const second = await client.replies.start({ method: 'grpo_from_baseline', seed: 6 });
    await until(async () => (app.live.get(second.runId)?.step ?? 0) > 0);
    app.live.command(second.runId, 'stop');
    await app.live.outcome(second.runId);
    const reinforced = await client.runs.get(second);
    expect(reinforced.parentRunId).toBe(runId);
    expect(reinforced.name).toMatch(/^grpo_from_baseline on baseline on tiny-test-seed_5-step 60\/seed_6$/);
    // At its first step the policy equals the reference, although that has an adapter.
    expect(app.store.metrics.series(second.runId, 'kl')[0]?.value).toBe(0);
    // The run that it starts from, or its own, may be called something else later.
    await client.runs.rename({ runId, name: 'my warm start' });
    await client.runs.rename({ ...second, name: 'my GRPO' });
    expect((await client.replies.desk()).methods[2]?.newest?.runId).toBe(second.runId);
  }, 180_000);

  it('reports when it is gone', async () => {
    const { world, client } = await openTinyClient();
    await client.replies.choose({ model: 'workspace:tiny-test' });
    rmSync(join(world.model, 'config.json'));
    const { model } = await client.replies.desk();
    expect(model).toMatchObject({ ref: 'workspace:tiny-test', problem: expect.stringContaining('config.json') });
    await client.replies.choose({ model: null });
    expect((await client.replies.desk()).model).toBeNull();
  });
});

describe('experimentName', () => {
  const point = (key: string) => ({ ref: key, name: 'renamed', key, problem: null });

  it('keeps runs that start from something else apart', () => {
    const none = { model: null, start: null };
    expect(experimentName(none, 'baseline', false)).toBe('baseline');
    const own = { model: point('Qwen2.5-0.5B'), start: point('warm/seed_1 · step 60') };
    expect(experimentName(own, 'baseline', false)).toBe('baseline on Qwen2.5-0.5B');
    expect(experimentName(own, 'polychromic_grpo', true)).toBe('polychromic_grpo on warm-seed_1-step 60');
  });
});
