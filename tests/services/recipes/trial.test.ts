import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runTrial } from '../../../main/services/recipes/trial.ts';
import { checklist } from '../../../main/services/training/checklist.ts';
import { newestTrial } from '../../../main/services/training/trial-memory.ts';
import { tinyWords } from '../../tiny-model.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

function replies(count: number): string {
  const word = (i: number): string => tinyWords[i % 20] ?? '';
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: `r${i}`,
      post: `${word(i)} ${word(i + 3)} ${word(i * 7)}`,
      reply: `${word(i)} ${word(i + 1)}`,
      engagement: { likes: i % 9, reposts: 0, replies: 0 },
    }),
  ).join('\n');
}

describe('runTrial', () => {
  it('runs the whole pipeline on some examples, judges it, and the checklist knows', async () => {
    const world = await tinyWorkspace();
    const dataset = join(world.root, 'replies.jsonl');
    writeFileSync(dataset, replies(40));
    const { num_generations, per_device_train_batch_size, model, threads } = world.config();
    const fields = {
      model,
      num_generations,
      per_device_train_batch_size,
      threads,
      learning_rate: 0.02,
      use_peft: false,
    };
    const config = world.config({ ...fields, task: 'reply', dataset });
    const point = async () =>
      (await checklist(world.store, config, world.paths)).find(({ name }) => name === 'small_scale_test');
    expect(await point()).toMatchObject({ state: 'open' });

    const parts: string[] = [];
    const result = await runTrial(world.store, {
      paths: world.paths,
      dataset,
      sft: { ...fields, method: 'sft' },
      grpo: fields,
      seed: 1,
      examples: 24,
      sftSteps: 12,
      grpoSteps: 4,
      onPart: (part) => parts.push(part),
    });
    expect(parts).toEqual(['sft', 'grpo']);
    expect(result.examples).toBe(24);
    expect(result.criteria.slice(0, 2).map(({ ok }) => ok)).toEqual([true, true]);
    expect(result.samples.length).toBeGreaterThan(0);
    const [first, second] = result.runIds.map((id) => world.store.runs.get(id));
    expect([first?.name, second?.name, second?.parentRunId]).toEqual(['trial-sft', 'trial-grpo', first?.id]);
    expect(newestTrial(world.store)).toMatchObject({ go: result.go, model });
    expect(await point()).toMatchObject({ state: result.go ? 'done' : 'failed' });
  });

  it('rejects fewer examples than it can split', async () => {
    const world = await tinyWorkspace();
    const dataset = join(world.root, 'few.jsonl');
    writeFileSync(dataset, replies(5));
    const options = { paths: world.paths, dataset, sft: {}, grpo: {}, seed: 1 };
    await expect(runTrial(world.store, options)).rejects.toThrow('at least 8 records for a small-scale test, got 5');
  });
});
