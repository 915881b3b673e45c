import { describe, expect, it } from 'vitest';
import type { TrialReport } from '../../../main/api/contract/index.ts';
import {
  cell,
  columnOptions,
  countsInWords,
  datasetName,
  insideColumns,
  sharedInWords,
  withoutFolders,
} from '../../../renderer/tasks/import-words.ts';
import { sharedStart } from '../../../renderer/tasks/shared-start.ts';
import { correlation, deadInWords, orderInWords, verdictOf } from '../../../renderer/tasks/trial-words.ts';

const report = (change: Partial<TrialReport>): TrialReport =>
  ({
    n: 4,
    failures: 0,
    rewards: [0, 1, 0, 1],
    dead: 0,
    failedGroups: 0,
    groups: [{}, {}],
    mean: 0.5,
    ...change,
  }) as TrialReport;

describe('verdictOf', () => {
  const cases: readonly (readonly [Partial<TrialReport>, tone: string, text: RegExp])[] = [
    [{}, 'good', /^2 of 2 groups would teach/],
    [{ failures: 4 }, 'bad', /fails on every completion/],
    [{ rewards: [0.5, 0.5, 0.5, 0.5] }, 'bad', /constant: every completion gets 0\.500/],
    [{ failures: 1, rewards: [0, 1, 0, Number.NaN] }, 'warn', /fails on 1 of 4/],
    [{ groups: [] }, 'warn', /no groups/],
    [{ dead: 2 }, 'bad', /All groups would be dead/],
    [{ dead: 2, groups: new Array(3).fill({}) }, 'warn', /^2 of 3 groups would be dead/],
  ];
  it.each(cases)('says what %o means', (change, tone, text) => {
    const verdict = verdictOf(report(change));
    expect(verdict.tone).toBe(tone);
    expect(verdict.text).toMatch(text);
  });
});

describe('correlation', () => {
  it('has a minus below 0, and none where it rounds to 0', () => {
    expect([0.871, -0.871, -0.004].map(correlation)).toEqual(['0.87', '−0.87', '0.00']);
  });
});

describe('deadInWords', () => {
  it('counts the groups that would be dead', () => {
    expect(deadInWords(report({ dead: 1 }))).toBe('1 of 2 would be dead');
    expect(deadInWords(report({ failedGroups: 1 }))).toBe('0 of 2 would be dead, 1 failed');
    expect(deadInWords(report({ groups: [] }))).toBe('no group of two or more completions');
  });
});

describe('countsInWords', () => {
  it('names only what happened', () => {
    const counts = { rows: 5, leftOut: 0, duplicates: 1, faults: 0, train: 2, test: 2 };
    expect(countsInWords(counts)).toBe('5 rows: 2 training records, 2 held out, 1 duplicate dropped');
    expect(countsInWords({ ...counts, leftOut: 3, duplicates: 2, faults: 4 })).toContain(
      '3 rows left out, 2 duplicates dropped, 4 with faults',
    );
  });
});

describe('sharedInWords', () => {
  it('counts held-out records, and says how many are repeated whole', () => {
    const leak = { clean: false, shared_titles: [], overlaps: [{}, {}] } as unknown as Parameters<
      typeof sharedInWords
    >[0];
    expect(sharedInWords(leak, 7)).toBe('2 of 7 held-out records share words with training records');
    expect(sharedInWords({ ...leak, shared_titles: ['x'] }, 7)).toMatch(/records; 1 whole prompt is on both sides$/);
    expect(sharedInWords({ ...leak, overlaps: [] }, 7)).toBeNull();
  });
});

describe('withoutFolders', () => {
  it('names files as the user knows them, and leaves the rest as it is', () => {
    expect(withoutFolders('/tmp/braid-import-Ab1/my rows.csv: none; this and/or that')).toBe(
      'my rows.csv: none; this and/or that',
    );
    expect(withoutFolders('C:\\Temp\\braid-import-x\\a.csv, line 2: no')).toBe('a.csv, line 2: no');
    expect(withoutFolders('/w/datasets/.hub/a--x/main__test__0000.parquet: no')).toBe('main__test__0000.parquet: no');
  });
});

describe('cell', () => {
  it('shows any value on one line, cut where it is long', () => {
    expect(cell('a\n b')).toBe('a b');
    expect(cell({ a: [1] })).toBe('{"a":[1]}');
    expect(cell(undefined)).toBe('');
    expect(cell('x'.repeat(200))).toBe(`${'x'.repeat(120)} …`);
  });
});

describe('columnOptions', () => {
  it('offers the last number of a column for a number, and keeps a mapping that was typed elsewhere', () => {
    expect(columnOptions(['prompt', 'chosen'], 'messages', '').map(({ value }) => value)).toEqual([
      ...['', 'prompt', 'chosen', 'prompt+chosen'],
    ]);
    expect(columnOptions(['q'], 'text', '').map(({ value }) => value)).toEqual(['', 'q']);
    expect(columnOptions(['q'], 'number', 'meta.id').map(({ value }) => value)).toEqual([
      ...['', 'q', 'q:last-number', 'meta.id'],
    ]);
  });
});

describe('orderInWords', () => {
  it('says what changes in the groups, and signs that change without the order', () => {
    const words = (order_changed: number, sign_changed: number) =>
      orderInWords({ order_changed, sign_changed, groups: 9 });
    expect(words(2, 5)).toBe("The order changes in 2 of 9 groups, and the gradient's sign for 5 completions.");
    expect(words(0, 0)).toMatch(/^The order of completions stays the same in every group: no completion/);
    expect(words(0, 5)).toMatch(/stays the same in every group, but the gradient's sign changes for 5/);
  });
});

describe('datasetName', () => {
  it('is the end of the source in plain characters', () => {
    expect(datasetName('/data/My file (2).jsonl')).toBe('My-file-2-');
    expect(datasetName('Cafe\u0301 हिन्दी.csv')).toBe('Café-हिन्दी');
    expect(datasetName('hf:openai/gsm8k@main')).toBe('gsm8k');
    expect(datasetName('hf:openai/gsm8k/main, train')).toBe('gsm8k');
    expect(datasetName('hf:openai/gsm8k/socratic, train')).toBe('gsm8k-socratic');
    expect(datasetName('')).toBe('records');
  });
});

describe('insideColumns', () => {
  it('finds what lies in objects and lists, as SQuAD has its answers', () => {
    const rows = [
      { id: 1, answers: { text: ['a', 'b'], start: [1] } },
      { id: 2, answers: null },
    ];
    expect(insideColumns(rows)).toEqual(['answers.text.0', 'answers.start.0']);
    const talk = { messages: [{ role: 'system' }, { role: 'user' }, { role: 'assistant' }], old: [{ from: 'gpt' }] };
    expect(insideColumns([talk])).toEqual([
      ...['messages.system', 'messages.user', 'messages.assistant', 'old.assistant'],
    ]);
    expect(insideColumns([{ a: { b: { c: { d: { e: { f: 1 } } } } } }])).toEqual([]);
    expect(insideColumns([{ info: '{"gold": "2"}', note: '[sic]' }])).toEqual(['info.gold']);
  });
});

describe('sharedStart', () => {
  it('ends before the first word that differs', () => {
    const prompts = ['Answer with a number. What is 2 + 2?', 'Answer with a number. What is 3 + 4?'];
    expect(prompts.map((prompt) => prompt.slice(sharedStart(prompts)))).toEqual(['2 + 2?', '3 + 4?']);
  });

  it('leaves short starts, single prompts and equal ones', () => {
    expect(sharedStart(['Say one', 'Say two'])).toBe(0);
    expect(sharedStart(['Answer with a number. What is 2 + 2?'])).toBe(0);
    expect(sharedStart([])).toBe(0);
    expect(sharedStart(['An example of a prompt ', 'An example of a prompt '])).toBe(0);
  });
});
