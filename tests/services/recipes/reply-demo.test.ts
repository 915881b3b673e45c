import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runReplyDemo } from '../../../main/services/recipes/reply-demo.ts';
import { replyRuns } from '../../../main/services/recipes/reply-presets.ts';
import { tinyWords } from '../../tiny-model.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const encoder = resolve(import.meta.dirname, '../../parity/fixtures/bert');

function writeReplies(file: string, count: number, from: number): string {
  const word = (i: number): string => tinyWords[i % 20] ?? '';
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: `r${from + i}`,
      post: `${word(from + i)} ${word(i + 3)} ${word(i * 7)}`,
      reply: `${word(i)} ${word(i + 1)}`,
      engagement: { likes: i, reposts: 0, replies: 0 },
    }),
  );
  writeFileSync(file, lines.join('\n'));
  return file;
}

async function world() {
  const made = await tinyWorkspace();
  const dataset = {
    train: writeReplies(join(made.root, 'all.jsonl'), 30, 0),
    test: writeReplies(join(made.root, 'all.test.jsonl'), 6, 100),
  };
  const { model, num_generations, per_device_train_batch_size, lora_r, lora_alpha } = made.config();
  const fields = {
    model,
    num_generations,
    per_device_train_batch_size,
    lora_r,
    lora_alpha,
    max_steps: 3,
    save_steps: 3,
  };
  const output = join(made.root, 'out');
  return {
    ...made,
    options: { paths: made.paths, dataset, fields, output, seed: 42, backend: 'wasm', threads: 1 } as const,
  };
}

describe('runReplyDemo', () => {
  it('splits, trains the four runs, the last two from the first, and compares them', async () => {
    const { store, options } = await world();
    const parts: string[] = [];
    const fields = { ...options.fields, relevance_model: encoder };
    const result = await runReplyDemo(store, { ...options, fields, onPart: (part) => parts.push(part) });
    expect(parts).toEqual(['split', ...replyRuns, 'comparison']);
    const runs = result.outcomes.map(({ outcome }) => store.runs.get(outcome.runId));
    expect(runs.map((run) => run?.name)).toEqual(replyRuns.map((name) => `${name}/seed_42`));
    expect(runs.map((run) => run?.method)).toEqual(['sft', 'polychromic-sft', 'grpo', 'polychromic-grpo']);
    expect(runs.map((run) => run?.parentRunId ?? null)).toEqual([null, null, runs[0]?.id, runs[0]?.id]);
    // The frozen reference is the baseline's adapter: the first step has not left it yet.
    expect(store.metrics.series(runs[2]?.id ?? 0, 'kl')[0]?.value).toBe(0);
    expect(result.comparison?.models.map(({ name }) => name)).toEqual([...replyRuns]);
    const report = readFileSync(result.files?.report ?? '', 'utf8');
    expect(report).toContain(`Relevance by the sentence encoder in \`${encoder}\``);
    // Words alone find nothing in common where an encoder does.
    expect(result.comparison?.models[0]?.prompts.every(({ relevance = 0 }) => relevance > 0)).toBe(true);
  }, 180_000);

  it('ends without a comparison when a run is stopped; what was done stays', async () => {
    const { store, options } = await world();
    const fields = { ...options.fields, max_steps: 500 };
    const result = await runReplyDemo(store, { ...options, fields, onRun: (run) => run.send({ kind: 'stop' }) });
    expect(result).toMatchObject({ comparison: null, files: null });
    expect(result.outcomes.map(({ run, outcome }) => [run, outcome.state])).toEqual([['baseline', 'stopped']]);
  });

  it('fails as its run fails', async () => {
    const { store, options } = await world();
    const fields = { ...options.fields, model: '/nowhere' };
    await expect(runReplyDemo(store, { ...options, fields })).rejects.toThrow('/nowhere');
  });
});
