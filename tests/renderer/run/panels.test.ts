import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { panels, panelsFor } from '../../../renderer/run/panels.ts';

describe('panels', () => {
  it('draw metrics that docs/metrics.md has, each under an id of its own', () => {
    const document = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
    const names = panels.flatMap(({ looks }) => Object.keys(looks));
    expect(names.filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

describe('panelsFor', () => {
  it('has a line for each component outside the sandbox: its reward, time, failures and cost', () => {
    const parts = ['said', 'style', 'quality'].map((name) => `rewards/${name}/mean`);
    const outside = ['style', 'quality'].flatMap((name) => [`time/reward/${name}`, `reward_failures/${name}`]);
    const names = [
      ...parts,
      ...outside,
      'time/reward/sandbox',
      'reward_cost/quality',
      'reward_cost',
      'reward_failures',
    ];
    const panels = new Map(panelsFor(names).map(({ id, looks }) => [id, Object.keys(looks)]));
    expect(panels.get('components')).toEqual(parts);
    expect(panels.get('reward time')).toEqual(['time/reward/style', 'time/reward/quality', 'time/reward/sandbox']);
    expect(panels.get('reward failures')).toEqual(['reward_failures/style', 'reward_failures/quality']);
    expect(panels.get('reward cost')).toEqual(['reward_cost/quality']);
  });

  it("draws the check of any task, under the task's name for it", () => {
    const of = (name: string) => panelsFor([`check/${name}`]).map(({ title, looks }) => [title, Object.keys(looks)]);
    expect(of('kigo')).toEqual([['Check: kigo', ['check/kigo']]]);
    expect(of('reference_overlap')).toEqual([['Overlap with the human reply', ['check/reference_overlap']]]);
  });

  it('has none of them for a reward that is all reward.ts', () => {
    const ids = panelsFor(['rewards/reward/mean', 'time/reward', 'reward_failures', 'loss']).map(({ id }) => id);
    expect(ids).not.toEqual(expect.arrayContaining([expect.stringMatching(/^reward (time|failures|cost)$/)]));
    expect(ids).toContain('time');
  });

  it('shows the share of dead groups itself, and that of the batch only where it is all there is', () => {
    const looksOf = (names: readonly string[]) => Object.keys(panelsFor(names)[0]?.looks ?? {});
    expect(looksOf(['frac_reward_zero_std', 'groups/dead', 'groups/solved'])).toEqual(['groups/dead', 'groups/solved']);
    expect(looksOf(['frac_reward_zero_std'])).toEqual(['frac_reward_zero_std']);
  });
});
