/** Every bundled task: its files are right, and its examples get the rewards that they say. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkTask } from '../../main/services/reward-trials/check-task.ts';
import { readTaskFolder } from '../../main/tasks/folder/source.ts';
import { rewardWorker } from './sandbox/scoring.ts';

const bundled = join(import.meta.dirname, '../../resources/tasks');
const names = readdirSync(bundled, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));

describe('the bundled tasks', () => {
  it('are those that docs/tasks.md names under Templates', () => {
    const document = readFileSync(join(import.meta.dirname, '../../docs/tasks.md'), 'utf8');
    const [, list = ''] = document.split('\n## Templates\n');
    expect(names.sort()).toEqual([...list.matchAll(/`([\w-]+)`/g)].map(([, name]) => name).sort());
  });

  it.each(names)('%s has records, and examples that get their rewards', (name) => {
    const checked = checkTask(readTaskFolder(join(bundled, name)), rewardWorker);
    expect(checked.faults).toEqual([]);
    expect(checked.records).toBeGreaterThanOrEqual(4);
    expect(checked.examples).toBeGreaterThanOrEqual(4);
  });
});
