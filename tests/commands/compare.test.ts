import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { registerCompare } from '../../main/commands/compare.ts';
import { checkoutPaths, setHostPaths } from '../../main/commands/host-paths.ts';
import { startTraining } from '../../main/services/training/training.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { tinyWords } from '../tiny-model.ts';
import { runCommand } from './run-command.ts';

beforeAll(() => setHostPaths(checkoutPaths(resolve(import.meta.dirname, '../..'))));

const compare = (...args: string[]) => runCommand(registerCompare, 'compare', '--quiet', '--threads', '1', ...args);

describe('braid compare', () => {
  it('compares a model with its checkpoint and itself on replies, and writes report, data and figures', async () => {
    const world = await tinyWorkspace();
    const dataset = join(world.root, 'held-out.jsonl');
    const record = (i: number) => ({
      id: `r${i}`,
      post: `${tinyWords[i]} ${tinyWords[i + 1]}`,
      reply: `${tinyWords[i]}`,
      engagement: { likes: i, reposts: 0, replies: 0 },
    });
    writeFileSync(dataset, Array.from({ length: 6 }, (_, i) => `${JSON.stringify(record(i))}\n`).join(''));
    const config = world.config({ task: 'reply', dataset, max_steps: 3 });
    const { checkpoint } = await startTraining(world.store, config, { paths: world.paths }).outcome;

    const output = join(world.root, 'comparison');
    const trained = [`trained=${checkpoint}`, `same=${world.model}`];
    const { stdout, error } = await compare(
      ...['--baseline', `base=${world.model}`, '--trained', ...trained, '--dataset', dataset],
      ...['--output', output, '--samples', '3', '--threshold', '0.3', '--json'],
    );
    expect(error).toBeNull();
    const told = JSON.parse(stdout);
    expect(told.models.map(({ name }: { name: string }) => name)).toEqual(['base', 'trained', 'same']);
    // The same weights and the same random numbers say the same.
    for (const row of told.rows) {
      const pair = row.pairs.find(({ from, to }: { from: string; to: string }) => from === 'base' && to === 'same');
      expect(pair).toMatchObject({ difference: { mean: 0 }, wins: 0, losses: 0, p: 1, significant: false });
      expect(row.winner).toBeNull();
    }
    const report = readFileSync(told.files.report, 'utf8');
    expect(report).toContain('| Pass@3 (from 0.3) ↑ |');
    expect(report).toContain('| Pass@1 (from 0.3) ↑ |');
    expect(report).toContain('![Size of the adapter by layer and module (Frobenius norm)](figures/lora_norms.svg)');
    for (const name of ['pass_at_k', 'training_reward', 'training_diversity', 'lora_norms', 'measures']) {
      expect(
        readFileSync(join(output, 'figures', `${name}.png`))
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
      expect(existsSync(join(output, 'figures', `${name}.svg`))).toBe(true);
      expect(readFileSync(join(output, 'data', `${name}.csv`), 'utf8').split('\n').length).toBeGreaterThan(2);
    }
    expect(readFileSync(told.files.completions, 'utf8').trim().split('\n')).toHaveLength(18);
  });

  it('compares on interleaving, with the alignment by position', async () => {
    const world = await tinyWorkspace();
    const output = join(world.root, 'comparison');
    const { stdout } = await compare(
      ...['--baseline', `a=${world.model}`, '--trained', `b=${world.model}`, '--dataset', world.dataset],
      ...['--output', output, '--samples', '2', '--k', '1,2', '--json'],
    );
    const told = JSON.parse(stdout);
    expect(told).toMatchObject({ task: 'interleave', threshold: 0.9 });
    expect(told.rows.map(({ name }: { name: string }) => name)).toContain('alignment');
    expect(existsSync(join(output, 'figures', 'alignment_by_position.svg'))).toBe(true);
  });

  it.each([
    [['--k', '1,10', '--samples', '4'], 'at most the 4 samples of a prompt, got 10'],
    [['--temperature', '0'], 'temperature to be above 0, got 0'],
    [['--threshold', 'high'], 'Expected --threshold to be a number, got "high"'],
    [['--trained', 'm=/b'], 'unique model names, got "m"'],
  ])('refuses %o', async (args, message) => {
    const folder = temporaryFolder();
    const dataset = join(folder, 'd.jsonl');
    writeFileSync(dataset, '{"id":"a","post":"p","reply":"r","engagement":{"likes":0,"reposts":0,"replies":0}}\n');
    const given = args.includes('--trained') ? args : ['--trained', 'n=/b', ...args];
    const { error } = await compare('--baseline', 'm=/a', '--dataset', dataset, '--output', folder, ...given);
    expect(error?.kind).toBe('input');
    expect(error?.message).toContain(message);
  });

  it('rejects records of neither task', async () => {
    const file = join(temporaryFolder(), 'd.jsonl');
    const run = () => compare('--baseline', 'a', '--trained', 'b', '--dataset', file, '--output', 'o');
    expect((await run()).error?.message).toContain('the file does not exist');
    writeFileSync(file, '{"text":"x"}\n');
    expect((await run()).error?.message).toContain('fragment_b, …), got text');
    writeFileSync(file, 'no json\n');
    expect((await run()).error?.message).toContain('got none');
  });
});
