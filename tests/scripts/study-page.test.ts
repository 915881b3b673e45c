import { describe, expect, it } from 'vitest';
import { configFaults } from '../../main/trainer/config/config.ts';
import { arms, conditionsOf, ladders, options, RECORDS } from '../../scripts/study/arms.ts';
import { compare, didNothing, reachedAt, scoreWithin } from '../../scripts/study/compare.ts';
import { studyPage } from '../../scripts/study/page.ts';
import { outdated, refusal, type StudyRun } from '../../scripts/study/results.ts';

function run(arm: string, seed: number, means: readonly number[], pace = 2): StudyRun {
  const heldOut = means.map((mean, i) => ({ step: 5 * i, seconds: 5 * i * pace, mean }));
  const [stages, conditions] = [[{ words: [10], max_completion_length: 31 }], { model_sha256: 'a1', options: {} }];
  return { ...conditions, arm, seed, steps: 90, seconds: 90 * pace, stages, heldOut };
}

/** Its row in the first table. */
function rowOf(page: string, arm: string): string {
  return page.split('\n').find((line) => line.startsWith(`| ${arm} |`)) ?? '';
}

describe('the arms of the study', () => {
  it('differ from the arm that they are compared with in what they are about alone', () => {
    for (const { name, against, stages, aim, evaluated } of options) {
      const base = options.find((arm) => arm.name === against);
      if (base === undefined) continue;
      expect([aim, evaluated, stages.length]).toEqual([base.aim, base.evaluated, base.stages.length]);
      const differing = new Set(
        stages.flatMap((stage, i) =>
          Object.keys(stage).filter((field) => Reflect.get(stage, field) !== Reflect.get(base.stages[i] ?? {}, field)),
        ),
      );
      expect([name, differing.size > 0]).toEqual([name, true]);
      const { words: _, ...common } = base.stages[0] ?? {};
      expect(stages[0]).toMatchObject(common);
    }
  });

  it('have settings that can take effect', () => {
    const stageOf = (name: string) => arms.find((arm) => arm.name === name)?.stages[0];
    for (const { stages } of arms)
      for (const { words: _, records: __, ...settings } of stages)
        expect(
          configFaults({ per_device_train_batch_size: 128, num_generations: 16, use_peft: false, ...settings }),
        ).toEqual([]);
    // Eight prompts a step: each comes back several times, also for GRESO.
    for (const { stages } of options)
      for (const stage of stages) expect((8 * (stage.max_steps ?? 0)) / stage.records).toBeGreaterThan(4);
    for (const name of ['vespo', 'off-policy-mask']) expect(stageOf(name)?.num_iterations).toBeGreaterThan(1);
    const { beta, ref_model_sync_steps: sync, max_steps: steps } = stageOf('sync-ref-model') ?? {};
    expect(beta).toBeGreaterThan(0);
    expect(sync).toBeLessThan((steps ?? 0) / 2);
  });

  it('are evaluated between steps only where no record is longer than those of the stage', () => {
    for (const { aim, evaluated, stages } of arms)
      if (evaluated === 'in the run') for (const { words } of stages) expect(Math.max(...words)).toBe(aim);
    const steps = ladders.map(({ stages }) => stages.reduce((sum, { max_steps }) => sum + (max_steps ?? 0), 0));
    expect(steps[0]).toBe(steps[1]);
  });
});

describe('the study', () => {
  it('finds when a score was reached, and what was reached within a time', () => {
    const plain = run('plain', 1, [0.5, 0.8, 0.95, 0.9]);
    expect(reachedAt(plain)).toEqual({ step: 10, seconds: 20, mean: 0.95 });
    expect(reachedAt(plain, 0.96)).toBeNull();
    expect(scoreWithin(plain, 19)).toBe(0.8);
    expect(scoreWithin(plain, 1000)).toBe(0.9);
  });

  it('compares each setting with its own base, seed by seed', () => {
    const page = studyPage([
      run('plain', 1, [0.5, 0.8, 0.95]),
      run('plain', 2, [0.5, 0.7, 0.8, 0.95]),
      run('greso', 1, [0.5, 0.96], 3),
      run('greso', 2, [0.5, 0.97]),
      run('reused', 1, [0.5, 0.95]),
      run('vespo', 1, [0.5, 0.8, 0.96]),
    ]);
    expect(rowOf(page, 'plain')).toMatch(
      /^\| plain \| the plain loop \| {2}\| 2 of 2 \| 13 \[.*\] \| 25 \[.*\] \| {2}\| 0\.950/,
    );
    // 15 s in place of 20, and 10 in place of 30: their geometric mean is 1/2.
    expect(rowOf(page, 'greso')).toMatch(
      / \| plain \| 2 of 2 \| 5 .* \| 0\.50 \[0\.00, [\d.]+\] \| 0\.965 .* \| 0\.015 /,
    );
    // One seed has no interval.
    expect(rowOf(page, 'vespo')).toMatch(/ \| reused \| 1 of 1 \| 10 \| 20 \| – \| 0\.960 \| – \|$/);
    expect(rowOf(page, 'pods')).toMatch(/ \| plain \| 0 of 0 \| – \| – \| – \| – \| – \|$/);
  });

  it('lists what did nothing by its intervals', () => {
    const seeds = [1, 2, 3];
    const plain = seeds.map((seed) => run('plain', seed, [0.5, 0.9, 0.95 + seed / 1000]));
    const same = seeds.map((seed) =>
      run('maxrl', seed, [0.5, 0.9, 0.95 + ((seed * 2) % 3) / 1000], 2 + seed / 100 - 0.02),
    );
    const faster = seeds.map((seed) => run('pods', seed, [0.5, 0.95, 0.95 + seed / 1000], 2 + seed / 100));
    const rarer = seeds.map((seed) => run('greso', seed, [0.5, 0.9, seed === 3 ? 0.949 : 0.951 + seed / 1000]));
    const page = studyPage([...plain, ...same, ...faster, ...rarer, run('adarft', 1, [0.5])]);
    const [, section = ''] = page.split('## What was tried and did nothing');
    expect(section).toContain('the score was reached as often: maxrl. With so few seeds');
    expect(section).toMatch(/Too few seeds to tell: .*adarft/);
    expect(studyPage([...plain, ...faster])).not.toContain('Both intervals include no difference');
  });

  it('has no time to compare where the score was never reached', () => {
    const low = (arm: string) => [1, 2].map((seed) => run(arm, seed, [0.5, 0.6 + seed / 100]));
    const comparison = compare(low('kl'), low('plain'));
    expect(comparison).toMatchObject({ seeds: 2, reached: [0, 0], ratio: null });
    expect(didNothing(comparison)).toBe(true);
    expect(didNothing({ ...comparison, difference: null })).toBe(false);
  });

  it('compares the ladder with long texts at equal steps and at equal seconds', () => {
    const page = studyPage([
      { ...run('direct', 1, [0.5, 0.5, 0.6]), seconds: 400, stages: [{ words: [50], max_completion_length: 130 }] },
      { ...run('curriculum', 1, [0.5, 0.9, 0.95]), seconds: 10 },
      // One that isn't whole yet counts nowhere.
      run('direct', 2, [0.5, 0.5, 0.5]),
    ]);
    expect(page).toMatch(/\| direct \| .* \| 0\.600 \| 0\.500 \| 400 \|/);
    expect(page).toMatch(/\| curriculum \| .* \| 0\.950 \| 0\.900 \| 10 \|/);
    expect(page).toContain('Seeds that have both: 1.');
    expect(page).toContain('31 tokens at 10 words, 130 tokens at 50 words');
  });
});

describe('kept results', () => {
  it('that have other weights or settings than their arm has now, or no arm, keep the page from being written', () => {
    const [plain] = arms;
    if (plain === undefined) throw new Error('no arms');
    const conditions = (arm: typeof plain) => conditionsOf(arm, { max_steps: 45 }, 'a1');
    const good = { ...run('plain', 1, [0.5]), ...conditions(plain) };
    const results = new Map<string, StudyRun>([
      ['plain-seed-1.json', good],
      ['plain-seed-2.json', { ...good, model_sha256: 'b2' }],
      ['plain-seed-3.json', { ...good, options: { ...good.options, stages: [{ words: [10], records: 512 }] } }],
      ['gone-seed-1.json', { ...good, arm: 'gone' }],
    ]);
    const found = outdated(results, arms, conditions);
    expect(found.map(({ name }) => name)).toEqual(['plain-seed-2.json', 'plain-seed-3.json', 'gone-seed-1.json']);
    expect(found[1]?.difference).toContain(`"records":${RECORDS}`);
    expect(refusal(found)).toContain("docs/study/plain-seed-2.json differs in the model's weights");
    expect(refusal([])).toBeNull();
  });
});
