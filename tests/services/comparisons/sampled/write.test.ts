import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkoutPaths } from '../../../../main/commands/host-paths.ts';
import type { ModelComparison } from '../../../../main/services/comparisons/sampled/compare.ts';
import { measuresOf } from '../../../../main/services/comparisons/sampled/measures.ts';
import { comparisonReport } from '../../../../main/services/comparisons/sampled/report.ts';
import { writeComparison } from '../../../../main/services/comparisons/sampled/write.ts';
import { comparisonTable } from '../../../../main/services/text-worker/comparison-table.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const paths = checkoutPaths(resolve(import.meta.dirname, '../../../..'));

/** Of one model, sampled by this seed; with a history it has a figure of its training. */
function comparison(seed: number, history: readonly { readonly step: number; readonly loss: number }[] = []) {
  const options = { task: 'reply', samples: 1, k: [1], threshold: 0.5 };
  const measures = measuresOf(options);
  const prompts = [0.25, 0.75].map((value) => Object.fromEntries(measures.map(({ name }) => [name, value])));
  const answers = ['a', 'b'].map((id) => ({ id, prompt: `post ${id}`, target: null, completions: [`reply ${seed}`] }));
  const model = { name: 'base', askedAs: null, prompts, answers, terminated: 2, norms: null, history, seconds: 1 };
  const facts = { dataset: 'posts.test.jsonl', prompts: 2, backend: 'wasm', rewardCost: null, relevanceModel: null };
  const rows = comparisonTable({ models: [model], measures, seed: 1 });
  return {
    ...facts,
    options: { ...options, temperature: 1, seed, max_completion_length: 44 },
    models: [model],
    rows,
  } satisfies ModelComparison;
}

describe('writeComparison', () => {
  const first = comparison(1, [
    { step: 1, loss: 0.5 },
    { step: 2, loss: 0.25 },
  ]);
  const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

  it("replaces an earlier comparison with its figures, and keeps the user's own files", async () => {
    const folder = temporaryFolder();
    await writeComparison(first, folder, paths);
    expect(readdirSync(join(folder, 'data'))).toEqual(['measures.csv', 'training_loss.csv']);
    writeFileSync(join(folder, 'data', 'own.csv'), 'own');
    await writeComparison(comparison(2), folder, paths);
    expect(readdirSync(join(folder, 'data'))).toEqual(['measures.csv', 'own.csv']);
    expect(readdirSync(join(folder, 'figures'))).toEqual(['measures.png', 'measures.svg']);
    expect(JSON.parse(read(folder, 'comparison.json'))).toMatchObject({ seed: 2 });
    expect(read(folder, 'completions.jsonl')).toContain('reply 2');
  });

  it('tells checkpoints of one run apart beside the norms of their adapters', async () => {
    const { models, ...rest } = comparison(1);
    const norms = [{ layer: 0, module: 'q_proj', norm: 1 }];
    const named = ['checkpoint-40', 'checkpoint-80'].flatMap((checkpoint) =>
      models.map((model) => ({ ...model, name: `run-0007-train-grpo/${checkpoint}`, norms })),
    );
    const folder = temporaryFolder();
    await writeComparison({ ...rest, models: named }, folder, paths);
    expect(read(folder, 'figures/lora_norms.svg').match(/run-0007[^<]*/g)).toEqual([
      'run-0007…kpoint-40 · 0',
      'run-0007…kpoint-80 · 0',
    ]);
  });

  it("says by which metric a completion of a folder's task passes", () => {
    const { options, ...rest } = comparison(1);
    const own = { ...options, task: 'rhyme', measures: ['reward', 'success', 'failed'], threshold: 2 };
    expect(comparisonReport({ ...rest, options: own }, [])).toContain('when its reward is at least 2;');
  });

  it('shows what models wrote as text: every viewer of the report would fetch a picture in it', () => {
    const { models, ...rest } = comparison(1);
    const answers = models[0]?.answers.map((one) => ({
      ...one,
      prompt: 'a\n<img src=//evil/p> ```',
      completions: ['![x](//evil/c) | <b>'],
    }));
    const report = comparisonReport(
      { ...rest, models: models.map((model) => ({ ...model, name: '<b>', answers: answers ?? [] })) },
      [],
    );
    expect(report).toContain('cut off: \\<b\\> ');
    expect(report).toContain('> a\n> \\<img src=//evil/p\\> \\`\\`\\`\n');
    expect(report).toContain('  - \\!\\[x\\](//evil/c) \\| \\<b\\>\n');
  });

  it('leaves an earlier comparison as it was when a part of the new one cannot be written', async () => {
    const folder = temporaryFolder();
    await writeComparison(first, folder, paths);
    const before = read(folder, 'report.md');
    rmSync(join(folder, 'comparison.json'));
    mkdirSync(join(folder, 'comparison.json'));
    await expect(writeComparison(comparison(2), folder, paths)).rejects.toThrow('is intact');
    expect(read(folder, 'report.md')).toBe(before);
    expect(read(folder, 'completions.jsonl')).toContain('reply 1');
    expect(readdirSync(join(folder, 'data'))).toEqual(['measures.csv', 'training_loss.csv']);
  });
});
