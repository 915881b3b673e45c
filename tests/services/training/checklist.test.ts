import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { checklist } from '../../../main/services/training/checklist.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

async function bench() {
  const world = await tinyWorkspace();
  return async (changes: Parameters<typeof world.config>[0]) =>
    checklist(world.store, world.config(changes), world.paths);
}

describe('checklist', () => {
  it('says what is there, what is open and what failed, with a remedy for all that is not done', async () => {
    const look = await bench();
    const states = async (changes: Parameters<typeof look>[0]) =>
      Object.fromEntries((await look(changes)).map(({ name, state }) => [name, state]));
    const done = { model: 'done', dataset: 'done', held_out: 'done', disjoint: 'done', reward: 'done', memory: 'done' };
    expect(await states({})).toMatchObject(done);
    expect(await states({})).not.toHaveProperty('small_scale_test');
    expect(await states({ model: '/nowhere' })).toMatchObject({ model: 'failed', memory: 'open' });
    expect(await states({ dataset: '/nowhere.jsonl' })).toMatchObject({ dataset: 'failed', held_out: 'open' });
    expect(await states({ reward_weights: [1, 2] })).toMatchObject({ reward: 'failed' });
    expect(await states({ from_checkpoint: 'baseline/seed_1' })).toMatchObject({ warm_start: 'failed' });
    for (const { state, name, next } of await look({ model: '/nowhere', dataset: '/nowhere.jsonl' }))
      expect([name, state === 'done']).toEqual([name, next === null]);
  });

  it("takes free memory and the total as this process sees them: os.freemem and os.totalmem are a container's host's", async () => {
    const look = await bench();
    onTestFinished(() => void vi.restoreAllMocks());
    const memory = async () => (await look({})).find(({ name }) => name === 'memory');
    vi.spyOn(process, 'availableMemory').mockReturnValue(5 * 2 ** 20);
    expect(await memory()).toMatchObject({ state: 'open', detail: expect.stringMatching(/, 5 MiB free$/) });
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(6 * 2 ** 20);
    expect((await memory())?.state).toBe('failed');
  });

  it('says which fields the reward reads that records lack', async () => {
    const world = await tinyWorkspace();
    const facts = { files: [{ kind: 'good', records: 3, missing: ['"answer" is missing'] }], shared: [] } as const;
    const items = await checklist(world.store, world.config(), world.paths, () => facts);
    expect(items).toContainEqual(
      expect.objectContaining({ name: 'fields', state: 'open', detail: '"answer" is missing' }),
    );
  });

  it('finds held-out prompts in the training data', async () => {
    const world = await tinyWorkspace();
    const items = await checklist(world.store, world.config({ eval_dataset: world.dataset }), world.paths);
    expect(items.find(({ name }) => name === 'disjoint')).toMatchObject({
      state: 'failed',
      detail: '12 records repeat prompts of the other side',
    });
  });
});
