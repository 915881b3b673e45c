import { cpSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import {
  earlierFingerprint,
  modelFingerprint,
  scoringFolders,
} from '../../../../main/services/comparisons/paired/fingerprint.ts';
import {
  comparisonFigures,
  continueComparison,
  exportComparison,
  listComparisons,
  promptAnswers,
  promptSources,
  readComparison,
  removeComparison,
  startComparison,
} from '../../../../main/services/comparisons/paired/index.ts';
import { requireModel } from '../../../../main/services/models/list.ts';
import { resolveModelParts } from '../../../../main/services/models/resolve.ts';
import { errorOf } from '../../../store/helpers.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { baseline, comparisonHost, jobEnd, keepAnswers, other } from './host.ts';

describe('startComparison', () => {
  it('evaluates every model once, and reads the results back', async () => {
    const { host, compare } = await comparisonHost();
    const id = compare();
    expect(readComparison(host, id).models).toMatchObject([{ mean: null }, { mean: null, paired: null }]);
    expect(await jobEnd(host)).toMatchObject({ state: 'done', kind: `comparison:${id}` });

    const view = readComparison(host, id);
    const [before, after] = view.models;
    expect(view.prompts).toMatchObject({ n: 4, seed: 1, datasets: ['2words'] });
    expect(before).toMatchObject({ name: 'tiny-test', paired: null, standing: 'same', summary: { n: 4 } });
    expect(after).toMatchObject({ name: 'wide', standing: 'same', paired: { n: 4 } });
    expect(after?.paired?.difference.mean).toBeCloseTo((after?.mean ?? 0) - (before?.mean ?? 0), 12);
    expect(view.rows).toHaveLength(4);
    for (const { scores } of view.rows) expect(scores).toEqual([expect.any(Number), expect.any(Number)]);

    const [row] = view.rows;
    const answers = promptAnswers(host.store, id, row?.id ?? '');
    expect(answers.answers.map((answer) => answer?.score)).toEqual(row?.scores);
    expect(answers.targetWords.map(({ strand }) => strand)).toEqual(['a', 'b', 'a', 'b']);
    expect(errorOf(() => promptAnswers(host.store, id, 'none'))).toMatchObject({ code: 'PROMPT_UNKNOWN' });
  });

  it("names the datasets whose held-out records aren't, before and after", async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const id = compare();
    expect(readComparison(host, id).prompts.leaking).toEqual([]);
    const leakage = { titles: 0, pairs: 3 };
    host.store.datasets.setLeakage(prompts.datasetIds[0] ?? 0, leakage);
    const leaking = [{ name: '2words', task: 'interleave', heldOut: 4, leakage }];
    expect(readComparison(host, id).prompts.leaking).toEqual(leaking);
    expect(promptSources(host.store)[0]).toMatchObject({ name: '2words', leakage });
  });

  it('evaluates nothing twice: an equal comparison is found, and a new one uses stored results', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const id = compare();
    expect(compare()).toBe(id);
    const turned = startComparison(host, {
      baseline: other,
      models: [baseline],
      prompts: { datasetIds: host.store.datasets.list().map((dataset) => dataset.id), n: 9, seed: 8 },
    });
    expect(host.jobs.list()).toEqual([]);
    const [first, second] = [readComparison(host, id), readComparison(host, turned)];
    expect(second.models[1]?.paired?.difference.mean).toBeCloseTo(-(first.models[1]?.paired?.difference.mean ?? 0), 12);
    expect(listComparisons(host.store).map((known) => known.id)).toEqual([turned, id]);
  });

  it('repeats what changed, and everything on request', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const id = compare();
    const weights = join(host.workspace.models, 'wide/model.safetensors');
    const trained = readFileSync(weights);
    trained.fill(0, trained.length - 64);
    writeFileSync(weights, trained);
    expect(readComparison(host, id).models.map(({ standing }) => standing)).toEqual(['same', 'changed']);
    compare();
    expect(await jobEnd(host)).toMatchObject({ title: 'Compare: wide on 4 prompts', state: 'done' });
    continueComparison(host, id, true);
    expect(await jobEnd(host)).toMatchObject({ title: 'Compare: 2 models on 4 prompts', state: 'done' });
  });

  it('takes a model for the same wherever it lies and whenever it was written, and one that an earlier version saw', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const id = compare();
    const standings = () => readComparison(host, id).models.map(({ standing }) => standing);
    const { base, ...rest } = resolveModelParts(requireModel(host, other).model, host.paths);
    const moved = temporaryFolder();
    cpSync(base, moved, { recursive: true });
    expect(modelFingerprint({ ...rest, base: moved, tokenizer: moved })).toBe(modelFingerprint({ ...rest, base }));

    const later = new Date(Date.now() + 60_000);
    utimesSync(join(base, 'model.safetensors'), later, later);
    expect(standings()).toEqual(['same', 'same']);

    const db = new Database(host.store.file);
    db.prepare('update prompt_evaluation set fingerprint = ? where fingerprint = ?').run(
      earlierFingerprint({ ...rest, base }),
      modelFingerprint({ ...rest, base }),
    );
    db.close();
    expect(standings()).toEqual(['same', 'same']);
    continueComparison(host, id, false);
    expect(host.jobs.list()).toEqual([]);
  });

  it('repeats what another reward model has scored', async () => {
    const { host } = await comparisonHost();
    const definition = `title: Judged
fields: { word: text }
prompt: '{word}'
max_completion_length: 8
success_threshold: 1
rewards: { helpful: { weight: 1, classifier: models/rm } }
`;
    const source = { name: 'judged', folder: '/tasks/judged', reward: '', definition };
    const parts = resolveModelParts(requireModel(host, other).model, host.paths);
    const fingerprint = () => modelFingerprint(parts, null, scoringFolders(source, host.store.folder));
    expect(errorOf(fingerprint)).toMatchObject({ code: 'REWARD_MODEL_MISSING' });
    const folder = join(host.workspace.models, 'rm');
    mkdirSync(folder);
    writeFileSync(join(folder, 'config.json'), '{}');
    const before = fingerprint();
    expect(fingerprint()).toBe(before);
    writeFileSync(join(folder, 'config.json'), '{"a": 1}');
    expect(fingerprint()).not.toBe(before);
    expect(before).not.toBe(modelFingerprint(parts));
  });

  it('compares on several lengths', async () => {
    const { host, longer, prompts } = await comparisonHost();
    const datasetIds = [...prompts.datasetIds, longer()];
    const id = startComparison(host, { baseline, models: [other], prompts: { datasetIds, n: 3, seed: 1 } });
    await jobEnd(host);
    const view = readComparison(host, id);
    expect(view.rows.map(({ words }) => words)).toEqual([2, 2, 2, 3, 3, 3]);
    expect(Object.keys(view.models[1]?.summary?.by_words ?? {})).toEqual(['2', '3']);
    expect(comparisonFigures(view).map(({ name }) => name)).toEqual(['position', 'scores', 'length']);
  });

  it('keeps evaluations when a model cannot be read, says which, and continues later', async () => {
    const { host, compare } = await comparisonHost();
    const weights = join(host.workspace.models, 'wide/model.safetensors');
    writeFileSync(weights, 'no weights');
    const id = compare();
    expect(await jobEnd(host)).toMatchObject({
      state: 'failed',
      error: { message: expect.stringMatching(/^wide: .*safetensors/), remedy: expect.stringContaining('is saved') },
    });
    expect(readComparison(host, id).models).toMatchObject([{ mean: expect.any(Number) }, { mean: null }]);
  });

  it('keeps evaluations when cancelled, and only runs the rest later', async () => {
    const { host, compare } = await comparisonHost();
    const id = compare();
    await vi.waitUntil(() => readComparison(host, id).models[0]?.mean !== null, { timeout: 30_000, interval: 5 });
    host.jobs.cancel(host.jobs.list()[0]?.id ?? 0);
    expect(await jobEnd(host)).toMatchObject({ state: 'cancelled' });
    expect(readComparison(host, id).models).toMatchObject([{ mean: expect.any(Number) }, { mean: null }]);
    continueComparison(host, id, false);
    expect(await jobEnd(host)).toMatchObject({ title: 'Compare: wide on 4 prompts', state: 'done' });
  });

  it('rejects a second one while one is running', async () => {
    const { host, compare } = await comparisonHost();
    const id = compare();
    expect(errorOf(() => compare())).toMatchObject({ code: 'COMPARISON_BUSY' });
    expect(errorOf(() => removeComparison(host, id))).toMatchObject({ code: 'COMPARISON_BUSY' });
    await host.jobs.close();
  });

  it("isn't repeated, nor found, once the run of a model is deleted", async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const id = compare();
    const before = readComparison(host, id).models;
    host.store.comparisons.markDeleted(other);
    const { models } = readComparison(host, id);
    expect(models.map(({ standing }) => standing)).toEqual(['same', 'gone']);
    expect(models[1]).toMatchObject({ name: 'wide', mean: before[1]?.mean, paired: before[1]?.paired });
    expect(errorOf(() => continueComparison(host, id, true))).toMatchObject({
      code: 'CHECKPOINT_MISSING',
      message: expect.stringContaining('wide was deleted with its run'),
    });
    expect(compare()).not.toBe(id);
  });

  it('rejects an invalid comparison', async () => {
    const { host, compare, prompts } = await comparisonHost();
    expect(errorOf(() => compare([baseline]))).toMatchObject({ code: 'SAME_MODEL' });
    expect(errorOf(() => compare(['workspace:none']))).toMatchObject({ code: 'MODEL_UNKNOWN' });
    const unknown = { baseline, models: [other], prompts: { ...prompts, datasetIds: [99] } };
    expect(errorOf(() => startComparison(host, unknown))).toMatchObject({ code: 'DATASET_UNKNOWN' });
    expect(errorOf(() => continueComparison(host, 7, false))).toMatchObject({ code: 'COMPARISON_UNKNOWN' });
    expect(listComparisons(host.store)).toEqual([]);
  });
});

describe('readComparison', () => {
  it("finds a baseline unchanged that was asked with a checkpoint's settings", async () => {
    const { host, compare } = await comparisonHost();
    const settings = join(host.workspace.models, 'wide/chat_settings.json');
    writeFileSync(settings, JSON.stringify({ system_prompt: 'Be brief.' }));
    const id = compare();
    expect(await jobEnd(host)).toMatchObject({ state: 'done' });
    expect(readComparison(host, id).models.map(({ standing }) => standing)).toEqual(['same', 'same']);
  });

  it('shows a comparison whose dataset and models are gone', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const id = compare();
    rmSync(host.workspace.datasets, { recursive: true });
    rmSync(host.workspace.models, { recursive: true });
    const view = readComparison(host, id);
    expect(view.models).toMatchObject([{ standing: 'gone' }, { standing: 'gone', paired: { n: 4 } }]);
    expect(promptAnswers(host.store, id, view.rows[0]?.id ?? '').answers).toHaveLength(2);
    expect(promptSources(host.store)).toMatchObject([{ problem: expect.stringContaining("the file doesn't exist") }]);
    removeComparison(host, id);
    expect(errorOf(() => readComparison(host, id))).toMatchObject({ code: 'COMPARISON_UNKNOWN' });
  });
});

describe('exportComparison', () => {
  it('writes every prompt as CSV and JSON, the result as Markdown, the figures as SVG', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const id = compare();
    const view = readComparison(host, id);
    const text = (format: 'csv' | 'json' | 'markdown') => exportComparison(host.store, view, format).text;

    const [head = '', first = '', ...rest] = text('csv').trim().split('\n');
    expect(head.split(',').slice(5)).toEqual([
      ...['alignment', 'exact_match', 'first_error', 'completion'].map((name) => `tiny-test: ${name}`),
      ...['alignment', 'gain', 'exact_match', 'first_error', 'completion'].map((name) => `wide: ${name}`),
    ]);
    expect(first.split(',')).toHaveLength(head.split(',').length);
    expect(rest).toHaveLength(3);

    const json = JSON.parse(text('json'));
    expect(json.items).toHaveLength(4);
    expect(json.items[0].models[1].alignment).toBe(view.rows[0]?.scores[1]);
    expect(text('markdown')).toContain(`| wide | ${view.models[1]?.mean?.toFixed(3)} |`);
    expect(text('markdown')).toMatch(/Largest gains:\n\n(- \+.*\n){4}\nLargest losses: none\.\n$/);
    for (const { svg } of comparisonFigures(view)) expect(svg).toMatch(/^<svg [\s\S]*wide[\s\S]*<\/svg>\n$/);
  });

  it('leaves out what has no score', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts, [Number.NaN]);
    const view = readComparison(host, compare());
    expect(view.models[1]).toMatchObject({ summary: { n: 3 }, paired: { n: 3, wins: 3 } });
    expect(view.rows[0]?.scores).toEqual([expect.any(Number), null]);
    expect(exportComparison(host.store, view, 'markdown').text).toMatch(/Largest gains:\n\n(- \+.*\n){3}\n/);
  });

  it('writes dashes for a model without a score', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts, new Array(4).fill(Number.NaN));
    const view = readComparison(host, compare());
    expect(view.models[1]).toMatchObject({ mean: Number.NaN, summary: { n: 0, low: Number.NaN }, paired: null });
    expect(exportComparison(host.store, view, 'markdown').text).toContain('| wide | – | – | – |  |');
    for (const { svg } of comparisonFigures(view)) expect(svg).not.toContain('NaN');
  });

  it('takes no mark-up from titles into Markdown', async () => {
    const { host, compare, prompts } = await comparisonHost();
    keepAnswers(host, prompts);
    const view = readComparison(host, compare());
    const rows = view.rows.map((row) => ({ ...row, titles: ['<b>a|b</b>', 'two\n# lines'] as const }));
    const { text } = exportComparison(host.store, { ...view, rows }, 'markdown');
    expect(text).toContain(': \\<b\\>a\\|b\\</b\\> × two \\# lines\n');
  });
});
