import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkTask } from '../../../main/services/reward-trials/check-task.ts';
import { dryRun } from '../../../main/services/reward-trials/dry-run.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { rewardWorker } from '../../tasks/sandbox/scoring.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { lines, writeTask } from '../tasks/task-folder.ts';

const folder = temporaryFolderOfFile();
const source = () => readTaskFolder(writeTask(folder));
const open = () => {
  const task = openTask(source(), rewardWorker);
  onTestFinished(() => task.close());
  return task;
};
const file = (...values: readonly object[]): string => {
  const path = join(folder, 'completions.jsonl');
  writeFileSync(path, lines(...values));
  return path;
};

describe('dryRun', () => {
  it('gives the weighted reward, its spread, dead groups and failures, by line', () => {
    const result = dryRun(
      open(),
      source(),
      file(
        { record: { id: 'a', word: 'hi' }, completions: ['hi', 'no', 'so many words hi'] },
        { word: 'you', completion: 'you' },
        { word: 'you', completion: 'YOU you' },
        { record: { id: 'c', word: 'x' }, completion: 'fail' },
      ),
    );
    expect(result).toMatchObject({
      n: 6,
      groups: 2,
      dead_groups: 1,
      failures: 1,
      mean: (1.5 + 0.5 + 1 + 1.5 + 1.5) / 5,
    });
    expect(result.failed).toEqual([{ line: 4, reason: 'reward.ts:3:45: Error: as asked' }]);
    expect(result.std).toBeCloseTo(0.4472, 4);
    expect(result.components.said?.mean).toBeCloseTo(0.8, 12);
    expect(result.check).toBe(0);
    expect(result.best).toMatchObject({ reward: 1.5 });
    expect(result.worst).toEqual({ line: 1, completion: 'no', reward: 0.5 });
  });

  it('counts a group apart whose rewards all failed; one reward that is left has no spread', () => {
    const failed = { record: { id: 'a', word: 'x' }, completions: ['fail', 'fail'] };
    const left = { record: { id: 'b', word: 'x' }, completions: ['fail', 'x'] };
    const groups = { n: 4, groups: 2, dead_groups: 1, failed_groups: 1, failures: 3 };
    expect(dryRun(open(), source(), file(failed, left))).toMatchObject(groups);
  });

  it('names the lines without a completion, or whose records lack a field', () => {
    const path = file({ word: 'a' }, { wrd: 'a', completion: 'x' }, { word: 'a', completion: 3 });
    expect(() => dryRun(open(), source(), path)).toThrow(
      /line 1: expected "completion", a text.*\n.*line 2: expected the field "word" \(text\), got none; it has "wrd": did you mean "word"\?\n.*line 3: expected "completion"/,
    );
  });
});

describe('checkTask', () => {
  const check = (files: Readonly<Record<string, string>>, name: string) =>
    checkTask(readTaskFolder(writeTask(folder, name, files)), rewardWorker);

  it('says that a prompt has no field, and why one of its places is none', () => {
    const task = (prompt: string) =>
      `title: T\nfields: { word: text }\nprompt: '${prompt}'\nmax_completion_length: 9\nsuccess_threshold: 1\n`;
    const same = 'task.yaml: no field stands in the prompt, which is the same for every record.';
    expect(check({ 'task.yaml': task('Say {{word}}') }, 'literal').notes).toEqual([same]);
    expect(check({ 'task.yaml': task('Say {word.text}') }, 'path').notes).toEqual([
      'task.yaml: "prompt" has {word.text}, which stays as it is: only a name alone in braces is a field.',
      same,
    ]);
  });

  it('quotes what of a text is a comment in YAML', () => {
    const task = (system: string) =>
      `title: T # ours\nfields: { word: text }\nsystem: ${system}\nprompt: '{word}' # short\nmax_completion_length: 9\nsuccess_threshold: 1\n`;
    expect(check({ 'task.yaml': task('End with #### and the number.') }, 'cut').notes).toEqual([
      'task.yaml: "system" ends before "#### and the number.", which is a comment in YAML. If it belongs to the text, put the whole in quotes, or below a |.',
    ]);
    expect(check({ 'task.yaml': task('"End with #### and the number."') }, 'whole').notes).toEqual([]);
  });

  it('accepts a task whose examples get what they should', () => {
    const examples = lines(
      { word: 'a', completion: 'a', reward: 1.5 },
      { word: 'a', completion: 'b', reward: { said: 0 } },
    );
    const records = {
      'records.jsonl': lines({ word: 'a' }),
      'records.test.jsonl': lines({ word: 'b' }, { word: 'c' }),
    };
    expect(check({ 'examples.jsonl': examples, ...records }, 'good')).toMatchObject({
      ok: true,
      task: 'good',
      rewards: ['said', 'short'],
      records: 1,
      held_out: 2,
      examples: 2,
      faults: [],
    });
  });

  it('lists everything that is wrong, with file and line', () => {
    const examples = lines({ word: 'a', completion: 'a', reward: 1 }, { word: 'a', completion: 'fail' });
    const { ok, faults } = check(
      {
        'examples.jsonl': examples,
        'records.jsonl': lines({ word: 'a' }, { wrd: 'b' }),
        'records.test.jsonl': lines({ wrd: 'b' }),
      },
      'off',
    );
    expect(ok).toBe(false);
    expect(faults).toEqual([
      expect.stringContaining(
        'records.jsonl, line 2: expected the field "word" (text), got none; it has "wrd": did you mean "word"?',
      ),
      expect.stringContaining('records.test.jsonl, line 1: expected the field "word"'),
      expect.stringContaining('examples.jsonl, line 1: expected a reward of 1, got 1.5'),
      expect.stringContaining('examples.jsonl, line 2: reward.ts:3:45: Error: as asked'),
    ]);
  });

  it('reports a reward that cannot run', () => {
    expect(check({ 'reward.ts': 'export const reward = (' }, 'broken').faults).toEqual([
      expect.stringContaining('reward.ts:1:'),
    ]);
  });
});
