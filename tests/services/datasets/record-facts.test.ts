import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordFacts } from '../../../main/services/datasets/record-facts.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function file(name: string, posts: readonly string[]): string {
  const path = join(temporaryFolder(), name);
  const engagement = { likes: 0, reposts: 0, replies: 0 };
  const lines = posts.map((post, i) => JSON.stringify({ ...{ id: `r${i}`, post, reply: 'ok' }, engagement }));
  writeFileSync(path, lines.join('\n'));
  return path;
}

describe('recordFacts', () => {
  it('counts records and the prompts that two files share', () => {
    const files = [file('a.jsonl', ['x', 'y']), file('b.jsonl', ['y', 'z', 'y']), file('c.jsonl', ['q'])];
    expect(recordFacts({ task: 'reply', files })).toEqual({
      files: [2, 3, 1].map((records) => ({ kind: 'good', records, missing: [] })),
      shared: [
        { first: 0, second: 1, records: 2 },
        { first: 0, second: 2, records: 0 },
        { first: 1, second: 2, records: 0 },
      ],
    });
  });

  it('says why a file cannot be read, and continues with the others', () => {
    const facts = recordFacts({ task: 'reply', files: ['/nowhere.jsonl', file('a.jsonl', ['x'])] });
    expect(facts.files).toMatchObject([{ kind: 'bad', reason: expect.stringContaining('/nowhere.jsonl') }, {}]);
    expect(facts.shared).toEqual([]);
  });
});
