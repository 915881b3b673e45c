import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { proofPrompts } from '../../../main/services/merge/proof-prompts.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { tinyRecord } from '../../tiny-model.ts';

const root = resolve(import.meta.dirname, '../../..');
const paths = { resources: join(root, 'resources'), datasets: join(root, 'datasets') };
let folder: string;
let checkpoint: string;
beforeEach(() => {
  folder = temporaryFolder();
  checkpoint = join(folder, 'run', 'checkpoint-20');
  mkdirSync(checkpoint, { recursive: true });
  writeFileSync(join(checkpoint, 'config.json'), '{}');
});

const place = (name: string): string => join(folder, name);
const lines = (name: string, records: readonly unknown[]): void =>
  writeFileSync(place(name), records.map((record) => JSON.stringify(record)).join('\n'));
const pairs = (n: number, prefix: string) => Array.from({ length: n }, (_, i) => tinyRecord(`${prefix}${i}`, 2, i));
const config = (text: string): void => writeFileSync(place('run/run.yaml'), text);
const reply = (id: string) => ({ id, post: 'Rain.', reply: 'Tea.', engagement: { likes: 1, reposts: 0, replies: 0 } });

describe('proofPrompts', () => {
  it("takes held-out records of the checkpoint's run, at equal distances: those beside its dataset, or others", () => {
    lines('d.jsonl', pairs(3, 'train'));
    lines('d.test.jsonl', pairs(40, 'test'));
    lines('other.jsonl', pairs(2, 'other'));
    config(`task: interleave\ndataset: ${place('d.jsonl')}\neval_dataset: null\n`);
    const { task, records, source } = proofPrompts(checkpoint, undefined, paths);
    expect([task, records.length, records[0]?.id, records[15]?.id]).toEqual(['interleave', 16, 'test0', 'test38']);
    expect(source).toEqual({ task: 'interleave', dataset: place('d.test.jsonl'), records: 40, note: null });
    config(`dataset: ${place('d.jsonl')}\neval_dataset: ${place('other.jsonl')}\n`);
    expect(proofPrompts(checkpoint, undefined, paths).records.map(({ id }) => id)).toEqual(['other0', 'other1']);
  });

  it('reads replies, and records of the task that the run keeps', () => {
    lines('r.jsonl', []);
    lines('r.test.jsonl', [reply('r1')]);
    config(`task: reply\ndataset: ${place('r.jsonl')}\n`);
    expect(proofPrompts(checkpoint, undefined, paths)).toMatchObject({ task: 'reply', source: { task: 'reply' } });
    cpSync(join(paths.resources, 'tasks/last-number'), place('run/tasks/last-number'), { recursive: true });
    lines('n.test.jsonl', [{ id: 'eggs', question: 'How many?', answer: 3 }]);
    config(`task: last-number\ndataset: ${place('n.jsonl')}\n`);
    const kept = proofPrompts(checkpoint, undefined, paths);
    expect(kept.task).toMatchObject({ name: 'last-number' });
    expect(kept.source).toMatchObject({ task: 'last-number', records: 1, note: null });
    expect(kept.records[0]?.prompt).toContain('How many?');
  });

  it('says where else the prompts come from: training records, or the bundled texts', () => {
    lines('d.jsonl', pairs(3, 'train'));
    config(`dataset: ${place('d.jsonl')}\n`);
    const { records, source } = proofPrompts(checkpoint, undefined, paths);
    expect([records.length, source.dataset]).toEqual([3, place('d.jsonl')]);
    expect(source.note).toMatch(/^of its training, as held-out ones can't be used: .*d\.test\.jsonl/);
    rmSync(place('d.jsonl'));
    const gone = proofPrompts(checkpoint, undefined, paths).source;
    expect(gone).toMatchObject({ task: 'interleave', dataset: null, records: 16 });
    expect(gone.note).toMatch(/^the records of its run can't be used: .*d\.jsonl/);
    config('task: mine\ndataset: x.jsonl\n');
    expect(proofPrompts(checkpoint, undefined, paths).source.note).toContain('no copy of its task "mine"');
    rmSync(place('run/run.yaml'));
    expect(proofPrompts(checkpoint, undefined, paths).source.note).toBe(
      "the model isn't a checkpoint in a run's folder",
    );
  });

  it('takes all records of a given file', () => {
    lines('given.jsonl', [reply('r1'), reply('r2')]);
    expect(proofPrompts(checkpoint, place('given.jsonl'), paths)).toMatchObject({
      task: 'reply',
      records: [{ id: 'r1' }, { id: 'r2' }],
      source: { dataset: place('given.jsonl'), records: 2, note: null },
    });
    lines('empty.jsonl', []);
    expect(() => proofPrompts(checkpoint, place('empty.jsonl'), paths)).toThrow('expected at least one record');
  });
});
