import { describe, expect, it } from 'vitest';
import { runDetail } from '../../../main/services/runs/history.ts';
import { annotateRun, storedTags } from '../../../main/services/runs/notes.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';

describe('annotateRun', () => {
  it('sets notes and tags each on its own, and keeps a tag once', () => {
    const store = temporaryStore();
    const { runId: id } = createRun(store, parseConfig({ dataset: 'd.jsonl' }));
    expect(runDetail(store, id)).toMatchObject({ notes: '', tags: [] });
    annotateRun(store, id, { notes: 'lower rate' });
    annotateRun(store, id, { tags: ['paper', 'keep', 'paper'] });
    expect(runDetail(store, id)).toMatchObject({ notes: 'lower rate', tags: ['paper', 'keep'] });
    annotateRun(store, id, { tags: [] });
    expect(runDetail(store, id)).toMatchObject({ notes: 'lower rate', tags: [] });
  });

  it('rejects a run that is not there', () => {
    expect(errorOf(() => annotateRun(temporaryStore(), 99, { notes: 'x' }))).toMatchObject({ code: 'RUN_UNKNOWN' });
  });
});

describe('storedTags', () => {
  it('reports a damaged value in words, and ignores what is not a tag', () => {
    expect(storedTags('["a",7]')).toEqual(['a']);
    expect(storedTags('{}')).toEqual([]);
    expect(errorOf(() => storedTags('['))).toMatchObject({ code: 'DATABASE_DAMAGED' });
  });
});
