import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDataset } from '../../../main/services/datasets/files.ts';
import { saveTemplate } from '../../../main/services/datasets/templates.ts';
import { datasetDetail, leakageOf, listDatasets, removeDataset } from '../../../main/services/library/catalogue.ts';
import {
  type MakeDatasetsOptions,
  makeDatasets,
  previewStage,
  takenNames,
} from '../../../main/services/library/make-datasets.ts';
import { joinTexts } from '../../../main/services/library/texts.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { addRun, errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { madeText } from '../texts/made-texts.ts';
import { fileOf, type TemporaryLibrary, temporaryLibrary } from './temporary-library.ts';

const recipe = { train: 8, test: 4, seed: 42, template: { name: 'process', version: 1 } };
const options = (changes: Partial<MakeDatasetsOptions> = {}): MakeDatasetsOptions => ({
  ...recipe,
  stages: [10, 5],
  replace: false,
  ...changes,
});
const lengths = [40, 40, 40, 40, 40, 40];

describe('previewStage', () => {
  it('shows the records that will be made', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    const shown = await previewStage(library, { ...recipe, words: 10, show: 3 });
    expect(shown).toMatchObject({ supply: { shortage: null }, leakage: { clean: true, shared_titles: [] } });
    expect([shown.train.length, shown.test.length, shown.longestPrompt > 40]).toEqual([3, 3, true]);
    await makeDatasets(library, options({ stages: [10] }));
    expect(readFileSync(fileOf(library, '10words.jsonl'), 'utf8').startsWith(JSON.stringify(shown.train[0]))).toBe(
      true,
    );
  });

  it('says what is missing', async () => {
    const library = temporaryLibrary();
    library.addTexts(40, 40);
    const { supply, leakage, train } = await previewStage(library, { ...recipe, words: 10, show: 3 });
    expect([supply.missing_texts, leakage, train]).toEqual([2, null, []]);
  });
});

describe('control tokens of chat models in the texts', () => {
  it('are named by the preview and with the datasets', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    const clean = await previewStage(library, { ...recipe, words: 10, show: 3 });
    expect(clean.quoted).toBeNull();
    const words = Array.from({ length: 40 }, (_, i) => (i % 9 === 0 ? '<|eot_id|>' : `word${i}`)).join(' ');
    library.store.texts.add({ title: 'Chats', text: words, source: 'made', words: 40 });
    const shown = await previewStage(library, { ...recipe, words: 10, show: 3 });
    expect(shown.quoted).toMatch(/of 12 records contain <\|eot_id\|>, control tokens of chat models/);
    const { made } = await makeDatasets(library, options({ stages: [10] }));
    expect(made[0]?.quoted).toBe(shown.quoted);
  });
});

describe('words that the model has no tokens for', () => {
  it('are named by the preview and with the datasets, where a model is known', async () => {
    const library = temporaryLibrary();
    const text = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 'мир' : `word${i}`)).join(' ');
    for (const title of ['A', 'B', 'C', 'D', 'E', 'F'])
      library.store.texts.add({ title, text: text.replaceAll('word', title), source: 'made', words: 40 });
    const model = { name: 'tiny', folder: resolve(import.meta.dirname, '../../../resources/models/tiny') };
    const look = (more: object) => previewStage(library, { ...recipe, words: 10, show: 3, ...more });
    expect((await look({})).unwritable).toBeNull();
    expect((await look({ model: { name: 'gone', folder: '/no/such/model' } })).unwritable).toBeNull();
    const { unwritable } = await look({ model });
    expect(unwritable).toMatch(/^With the model tiny: \d+ of 240 words contain characters .* such as "мир"/);
    const { made } = await makeDatasets(library, { ...options({ stages: [10] }), model });
    expect(made[0]?.unwritable).toBe(unwritable);
  });
});

describe('makeDatasets', () => {
  it('writes and records each stage that the texts suffice for, and says what the others lack', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    saveTemplate(library.store, 'mine', '{fragment_a} | {fragment_b}');
    const { made, shortages } = await makeDatasets(
      library,
      options({ stages: [10, 500, 5], name: 'river', template: { name: 'mine', version: 1 } }),
    );
    expect(made).toMatchObject([
      { name: 'river-5words', words: 5, train: 8, test: 4, leakage: { clean: true } },
      { name: 'river-10words', words: 10 },
    ]);
    expect(shortages).toMatchObject([{ words: 500, missing_texts: 4 }]);
    expect(listDatasets(library.store)).toMatchObject([
      { name: 'river-5words' },
      { name: 'river-10words', template: 'mine v1', seed: 42, runs: 0, stages: 0, bytes: expect.any(Number) },
    ]);
    expect(library.jobs.list()[0]).toMatchObject({ kind: 'datasets', state: 'done' });
  });

  it('makes one dataset of several lengths, shortest first, or none without texts for all of them', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    const mixed = options({ stages: [10, 5], mixed: true });
    const { made } = await makeDatasets(library, mixed);
    expect(made).toMatchObject([{ name: '5-10words', words: null }]);
    const counts = readFileSync(fileOf(library, '5-10words.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { words: number }).words);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(new Set(counts)).toEqual(new Set([5, 10]));
    expect(made[0]?.train).toBe(counts.length);
    expect(takenNames(library, mixed)).toMatchObject([{ name: '5-10words' }]);
    await expect(makeDatasets(library, options({ stages: [5], mixed: true }))).rejects.toMatchObject({
      code: 'BAD_DATASET_OPTION',
    });
    await expect(makeDatasets(library, options({ stages: [5, 500], mixed: true }))).rejects.toMatchObject({
      code: 'TEXTS_TOO_SHORT',
    });
    expect(listDatasets(library.store)).toHaveLength(1);
  });

  it('rejects bad names, taken names, an unknown template and insufficient texts', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    for (const name of ['../x', 'a/b', '.hidden', 'a b', 'x'.repeat(61)])
      await expect(makeDatasets(library, options({ name }))).rejects.toMatchObject({ code: 'BAD_NAME' });
    await expect(makeDatasets(library, options({ template: { name: 'none', version: 1 } }))).rejects.toMatchObject({
      code: 'TEMPLATE_UNKNOWN',
    });
    await expect(makeDatasets(library, options({ stages: [] }))).rejects.toMatchObject({ code: 'BAD_DATASET_OPTION' });
    await expect(makeDatasets(library, options({ stages: [500] }))).rejects.toMatchObject({ code: 'TEXTS_TOO_SHORT' });
    writeFileSync(fileOf(library, '10words.jsonl'), 'not ours\n');
    await expect(makeDatasets(library, options())).rejects.toMatchObject({
      code: 'DATASET_EXISTS',
      message: expect.stringContaining('10words'),
    });
    expect(listDatasets(library.store)).toEqual([]);
  });

  it('replaces a dataset on request, but never one in use by a run', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    await makeDatasets(library, options({ stages: [5] }));
    const runId = addRun(library.store, { name: 'learner', dataset: fileOf(library, '5words.jsonl') });
    expect(takenNames(library, { stages: [5, 10] })).toEqual([{ name: '5words', runs: ['learner'], stages: [] }]);
    await expect(makeDatasets(library, options({ replace: true }))).rejects.toMatchObject({ code: 'DATASET_IN_USE' });
    library.store.runs.setState(runId, 'done', null);
    await makeDatasets(library, options({ replace: true, seed: 7 }));
    expect(listDatasets(library.store)).toMatchObject([
      { name: '5words', seed: 7, runs: 1 },
      { name: '10words', seed: 7 },
    ]);
  });

  it('leaves nothing partial when the folder is not writable', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    mkdirSync(fileOf(library, '5words.test.jsonl'));
    await expect(makeDatasets(library, options({ stages: [5] }))).rejects.toMatchObject({ code: 'WRITE_FAILED' });
    expect(existsSync(fileOf(library, '5words.jsonl'))).toBe(false);
    expect(library.jobs.list()[0]).toMatchObject({ state: 'failed' });
  });

  it('keeps what was finished when cancelled', async () => {
    const library = temporaryLibrary();
    library.addTexts(...Array(40).fill(300));
    const result = makeDatasets(library, options({ stages: [5, 200, 250, 251, 252, 253], train: 400, test: 100 }));
    while (!existsSync(fileOf(library, '5words.jsonl'))) await new Promise((next) => setTimeout(next, 2));
    library.jobs.cancel(1);
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED', message: expect.stringContaining('5words') });
    expect(library.jobs.list()[0]).toMatchObject({ state: 'cancelled' });
    const made = listDatasets(library.store);
    expect(made.length).toBeGreaterThan(0);
    expect(made.length).toBeLessThan(6);
    expect(made.every(({ bytes }) => bytes !== null)).toBe(true);
  });
});

describe('the split', () => {
  const titlesIn = (library: TemporaryLibrary, name: string): Set<string> =>
    new Set(readDataset(fileOf(library, name), interleaveTask).flatMap(({ title_a, title_b }) => [title_a, title_b]));

  it('stays when texts are added or merged, so that no dataset trains on the test texts of another', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    const { made } = await makeDatasets(library, options({ stages: [5], train: 60, test: 30 }));
    expect(made[0]?.leakage.clean).toBe(true);
    expect(listDatasets(library.store)[0]?.leakage).toEqual({ titles: 0, pairs: 0 });
    for (let i = 100; i < 120; i++) {
      const { title, text, source } = madeText(i, 60 + i);
      library.store.texts.add({ title, text, source, words: 60 + i });
    }
    await makeDatasets(library, options({ stages: [10], train: 200, test: 60, seed: 5 }));
    const [trained, held] = [titlesIn(library, '10words.jsonl'), titlesIn(library, '5words.test.jsonl')];
    expect([...held].filter((title) => trained.has(title))).toEqual([]);

    // A text that contains training text is training text.
    const rows = library.store.texts.list();
    const [train, test] = [rows.find(({ side }) => side === 'train'), rows.find(({ side }) => side === 'test')];
    await joinTexts(library, [{ ids: [train?.id ?? 0, test?.id ?? 0], title: 'both' }]);
    expect(library.store.texts.list().find(({ title }) => title === 'both')?.side).toBe('train');
    // Removed and added again, it is where it was.
    library.store.texts.remove(rows[0]?.id ?? 0);
    const { id } = library.store.texts.add(rows[0] ?? { title: '', text: '', source: '', words: 0 });
    expect(library.store.texts.get(id)?.side).toBe(rows[0]?.side);
  });
});

describe('removeDataset', () => {
  it('leaves files outside the workspace where they are, also behind a link in it', () => {
    const library = temporaryLibrary();
    const outside = join(temporaryFolder(), 'thesis.jsonl');
    writeFileSync(outside, 'mine\n');
    const link = join(library.workspace.datasets, 'linked');
    symlinkSync(dirname(outside), link);
    const facts = {
      task: 'interleave',
      words: 5,
      trainN: 1,
      testN: 0,
      seed: 0,
      template: null,
      textHash: null,
    } as const;
    for (const file of [outside, `../${basename(dirname(outside))}/thesis.jsonl`, join(link, 'thesis.jsonl')]) {
      const id = library.store.datasets.record({ ...facts, name: 'thesis', file });
      expect(datasetDetail(library.store, id).filesGo).toBe(false);
      removeDataset(library, id);
      expect(existsSync(outside), file).toBe(true);
    }
    expect(listDatasets(library.store)).toEqual([]);
  });

  it('removes the files, leaves runs their history and takes the dataset from stages', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    const { made } = await makeDatasets(library, options({ stages: [5] }));
    const id = made[0]?.id ?? 0;
    const stage = { name: 'First', datasetId: id, position: 0, words: 5, steps: 10, promotion: null, config: {} };
    const stageId = library.store.stages.add(stage);
    const runId = addRun(library.store, { dataset: fileOf(library, '5words.jsonl') });
    library.store.runs.setState(runId, 'paused', null);
    expect(datasetDetail(library.store, id).dependents).toMatchObject({
      stages: [{ name: 'First' }],
      runs: [{ id: runId }],
    });
    expect(errorOf(() => removeDataset(library, id))).toMatchObject({ code: 'DATASET_IN_USE' });
    library.store.runs.setState(runId, 'done', null);
    library.store.stages.setState(stageId, 'queued');
    expect(errorOf(() => removeDataset(library, id))).toMatchObject({ code: 'DATASET_IN_USE' });
    library.store.stages.setState(stageId, 'planned');
    removeDataset(library, id);
    expect([existsSync(fileOf(library, '5words.jsonl')), existsSync(fileOf(library, '5words.test.jsonl'))]).toEqual([
      false,
      false,
    ]);
    expect(library.store.stages.get(stageId)?.datasetId).toBeNull();
    expect(errorOf(() => datasetDetail(library.store, id))).toMatchObject({ code: 'DATASET_UNKNOWN' });
  });

  it('keeps one that a queued run or a sweep will train on, or be evaluated on', async () => {
    const { store, ...library } = temporaryLibrary();
    const place = { ...library, store };
    const facts = { task: 'interleave', words: 5, trainN: 1, testN: 1, seed: 0, template: null, textHash: null };
    const id = store.datasets.record({ ...facts, name: 'five', file: 'datasets/five.jsonl' });
    const trained = { dataset: join(store.folder, 'datasets/five.jsonl'), eval_dataset: null };
    const evaluated = { dataset: '/other.jsonl', eval_dataset: join(store.folder, 'datasets/five.test.jsonl') };
    const queuedId = store.queue.addRun('mine', evaluated);
    store.queue.addRun(null, { dataset: '/other.jsonl', eval_dataset: null });
    const trial = { setting: 0, seed: 42, name: 'rates', config: trained, after: null };
    const sweepId = store.sweeps.add('rates', {}, [trial]);
    store.sweeps.enqueue(sweepId);
    expect(datasetDetail(store, id).dependents.waiting).toEqual([
      { kind: 'run', name: 'mine' },
      { kind: 'sweep', name: 'rates' },
    ]);
    const refused = { code: 'DATASET_IN_USE', message: 'five is in use: the queued run "mine" needs it' };
    expect(errorOf(() => removeDataset(place, id))).toMatchObject(refused);
    store.queue.removeRun(queuedId);
    expect(errorOf(() => removeDataset(place, id))).toMatchObject({
      message: expect.stringContaining('the sweep "rates"'),
    });
    store.sweeps.setState(sweepId, 'paused');
    // It can be resumed, and then needs it: named, and no obstacle. What is queued isn't named as paused.
    store.queue.addRun('mine', trained);
    expect(datasetDetail(store, id).dependents).toMatchObject({
      waiting: [{ kind: 'run', name: 'mine' }],
      paused: ['rates'],
    });
    for (const { id: queued } of store.queue.list()) store.queue.removeRun(queued);
    removeDataset(place, id);
    expect(listDatasets(store)).toEqual([]);
  });
});

describe('leakageOf', () => {
  it('finds what is on both sides', async () => {
    const library = temporaryLibrary();
    library.addTexts(...lengths);
    const { made } = await makeDatasets(library, options({ stages: [10] }));
    const id = made[0]?.id ?? 0;
    expect(await leakageOf(library, id)).toMatchObject({ clean: true });
    writeFileSync(fileOf(library, '10words.test.jsonl'), readFileSync(fileOf(library, '10words.jsonl')));
    expect((await leakageOf(library, id))?.overlaps).toHaveLength(8);
    // Kept with the dataset, for the screens that name it.
    expect(listDatasets(library.store)[0]?.leakage).toEqual({ titles: expect.any(Number), pairs: 8 });
  });
});
