import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seedGroups } from '../../main/services/runs/seed-groups.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { braid } from './braid.ts';

describe('braid train --checklist', () => {
  it('shows what is ready and what is wrong, without training', async () => {
    const world = await tinyWorkspace();
    const file = join(world.root, 'short.yaml');
    writeFileSync(file, JSON.stringify(world.config()));
    const check = (...args: string[]) =>
      braid(['train', '--config', file, '--checklist', '--workspace', world.root, ...args]);
    const ready = await check('--json');
    expect(ready.code).toBe(0);
    expect(JSON.parse(ready.stdout)).toMatchObject({
      ready: true,
      items: expect.any(Array),
      advice: { do: 'warm_up', sentence: expect.stringMatching(/^Warm up first/), warm_up_steps: expect.any(Number) },
    });
    const wrong = await check('--model', join(world.root, 'nothing'));
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('[!] model: ') });
    const prompted = await check('--set', 'system_prompt=wa', '--seeds', '1,2');
    expect(prompted).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\[!\] start: .*chat template/m) });
    expect(ready.stdout).toMatch(/"rewards_differ".*"time"/);
    expect(world.store.runs.list({})).toEqual([]);
  });
});

describe('braid train', () => {
  it('refuses targets that the tokenizer has no tokens for, and names the setting with which it trains anyway', async () => {
    const world = await tinyWorkspace();
    const text = readFileSync(world.dataset, 'utf8').replaceAll('wa', 'мир');
    const dataset = join(world.root, 'foreign.jsonl');
    writeFileSync(dataset, text);
    const file = join(world.root, 'short.yaml');
    writeFileSync(file, JSON.stringify(world.config({ dataset, max_steps: 1 })));
    const train = (...args: string[]) => braid(['train', '--config', file, '--workspace', world.root, ...args]);
    const refused = await train();
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('allow_unwritable_words to true') });
    expect(refused.stderr).toMatch(
      /\d+ of \d+ words contain characters that this tokenizer has no token for, such as "мир"/,
    );
    expect(world.store.runs.list({})).toEqual([]);
    const allowed = await train('--set', 'allow_unwritable_words=true');
    expect(allowed).toMatchObject({ code: 0, stderr: expect.stringContaining('such as "мир"') });
  });
});

describe('braid train --seeds', () => {
  it('trains each seed as a run of one experiment, and a later run starts from one of them by name', async () => {
    const world = await tinyWorkspace();
    const file = join(world.root, 'short.yaml');
    writeFileSync(file, JSON.stringify(world.config({ max_steps: 3, save_steps: 3 })));
    const train = (...args: string[]) =>
      braid(['train', '--config', file, '--workspace', world.root, '--json', ...args]);

    const { code, stdout } = await train('--seeds', '42,7', '--experiment', 'warm');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ experiment: 'warm', metrics: { reward: { n: 2 } } });
    expect(seedGroups(world.store)[0]?.runs.map(({ seed }) => seed)).toEqual([7, 42]);
    expect(world.store.runs.list({}).map(({ name }) => name)).toEqual(['warm/seed_7', 'warm/seed_42']);

    const next = await train('--from', 'warm/seed_42', '--experiment', 'next');
    expect(next.code).toBe(0);
    const run = world.store.runs.get(JSON.parse(next.stdout).run_id);
    expect(run).toMatchObject({ name: 'next/seed_42', parentRunId: 1 });

    const unknown = await train('--from', 'warm/seed_43');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no run named "warm/seed_43"') });
    const twice = await train('--seeds', '1,1');
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('each seed once, got "1,1"') });
  }, 180_000);
});
