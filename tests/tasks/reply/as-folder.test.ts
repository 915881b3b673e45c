/** The reply task in native code and as a folder: the same numbers, bit for bit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openTask } from '../../../main/tasks/index.ts';
import type { Answer } from '../../../main/tasks/task.ts';
import { rewardWorker } from '../sandbox/scoring.ts';
import { replyFolder } from './reply-folder.ts';

const native = openTask('reply', '');
const own = openTask(replyFolder, rewardWorker);
afterAll(() => own.close());

const STRANGE = [
  '',
  '?!',
  'ok',
  'WHY '.repeat(90),
  'so so so so!!!!',
  'Don’t you? “Yes, you do …”',
  'Über 5 cafés, naïve',
];

describe('the reply task as a folder', () => {
  it('gives every component of the bundled replies, and of strange ones, as native code does', () => {
    const file = join(import.meta.dirname, '../../../datasets/sample_replies.jsonl');
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .slice(0, 120)
      .map((line) => JSON.parse(line));
    const answers = lines.flatMap((line, i): { line: unknown; completion: string }[] => {
      const other = lines[(i + 1) % lines.length];
      return [line.reply, other.reply, line.post, STRANGE[i % STRANGE.length]].map((completion) => ({
        line,
        completion,
      }));
    });
    const scored = (task: typeof own) =>
      task.score(
        answers.map(
          ({ line, completion }): Answer => ({
            record: task.parseRecord(native.parseRecord(line)),
            completion,
            tokens: 9,
            finish: 'stop',
          }),
        ),
      );
    const expected = scored(native);
    expect(scored(own)).toEqual(expected);
    expect(new Set(expected.map(({ components }) => JSON.stringify(components))).size).toBeGreaterThan(50);
  });
});
