/** Every bundled task: its files are right, and its examples get the rewards that they say. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkTask } from '../../main/services/reward-trials/check-task.ts';
import { readTaskFolder } from '../../main/tasks/folder/source.ts';
import { rewardWorker } from './sandbox/scoring.ts';

const bundled = join(import.meta.dirname, '../../resources/tasks');
const names = readdirSync(bundled, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));

describe('the bundled tasks', () => {
  it('are those that the documentation names', () => {
    expect(names.sort()).toEqual([
      'conversation',
      'countdown',
      'exact-match',
      'follow-the-cue',
      'format-and-correctness',
      'javascript-tests',
      'json-schema',
      'keep-to-one-language',
      'last-number',
      'length-limit',
      'openenv',
      'python-command',
      'reasoning-gym',
      'rubric-judge',
      'second-text',
      'shop-tools',
      'two-tools',
      'verifiers',
    ]);
  });

  it.each(names)('%s has records, and examples that get their rewards', (name) => {
    const checked = checkTask(readTaskFolder(join(bundled, name)), rewardWorker);
    expect(checked.faults).toEqual([]);
    expect(checked.records).toBeGreaterThanOrEqual(4);
    expect(checked.examples).toBeGreaterThanOrEqual(4);
  });
});
