import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { exportedFile, exportRun } from '../../../../main/services/runs/exports/exports.ts';
import { createRun } from '../../../../main/services/runs/runs.ts';
import { nextUnsent, START } from '../../../../main/services/trackers/unsent.ts';
import { parseConfig } from '../../../../main/trainer/config/config.ts';
import { addRun, errorOf, temporaryStore } from '../../../store/helpers.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const sample = (index: number, relevance: number) => ({
  recordId: 'r',
  group: 0,
  index,
  prompt: 'p, "quoted"',
  target: 't',
  completion: `c${index}\n`,
  reward: 0.5,
  advantage: index - 0.5,
  components: { relevance, length: 1 },
  length: 3,
  terminated: true,
});

describe('exportRun', () => {
  it('writes metrics as CSV and events, completions as parquet with a column a reward', async () => {
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({ task: 'reply' }));
    store.metrics.record(runId, 1, { reward: 0.5, step_time: 2 });
    store.metrics.record(runId, 2, { reward: Number.NaN, 'completions/diversity': 0.25 });
    const messages = [
      { role: 'assistant' as const, content: 'say c2' },
      { role: 'tool' as const, content: 'c2' },
    ];
    store.samples.record(runId, 2, [sample(0, Number.NaN), sample(1, 0.75), { ...sample(2, 1), messages }]);
    const files = exportRun(store, runId, join(temporaryFolder(), 'deep', 'out'));
    expect(readFileSync(files.metrics, 'utf8')).toBe(
      'step,completions/diversity,reward,step_time\n1,,0.5,2\n2,0.25,,\n',
    );
    expect(readFileSync(files.tensorboard).includes('completions/diversity')).toBe(true);
    expect(files.tensorboard).toMatch(/events\.out\.tfevents\.\d+\.braid$/);
    const bytes = readFileSync(files.completions ?? '');
    const rows = await parquetReadObjects({
      file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    });
    expect(rows).toHaveLength(3);
    // With what the tool said, which the model didn't write.
    expect(rows[2]?.completion).toBe('Assistant: say c2\n\nTool: c2');
    expect(rows[1]).toEqual({
      step: 2,
      prompt: 'p, "quoted"',
      completion: 'c1\n',
      advantage: 0.5,
      ...{
        relevance: 0.75,
        length: 1,
        sentiment: Number.NaN,
        diversity: Number.NaN,
        punctuation: Number.NaN,
        engagement: Number.NaN,
      },
    });
    expect(rows[0]?.relevance).toBeNaN();
  });

  it('gives a component a column of its own where its name is that of another', async () => {
    const store = temporaryStore();
    const runId = addRun(store, { task: 'mine' });
    store.metrics.record(runId, 1, { reward: 0.5, step_time: 1 });
    store.samples.record(runId, 1, [{ ...sample(0, 0.75), components: { completion: 0.75, step: 2 } }]);
    const bytes = readFileSync(exportRun(store, runId, temporaryFolder()).completions ?? '');
    const rows = await parquetReadObjects({
      file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    });
    expect(rows).toMatchObject([{ step: 1, completion: 'c0\n', 'rewards/completion': 0.75, 'rewards/step': 2 }]);
    const { table } = nextUnsent(store, runId, START) ?? {};
    expect(table?.columns).toContain('rewards/step');
  });

  it('puts held-out evaluations at the steps after which they were made', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({ task: 'reply' }));
    store.metrics.record(runId, 1, { reward: 0.5 });
    const numbers = { n: 1, mean: 0.25, low: null, high: null, exactMatch: null };
    const origin = { runId, checkpointId: null, model: 'm', dataset: 'd' };
    for (const [step, during] of [
      [0, true],
      [1, true],
      [1, false],
    ] as const)
      store.evaluations.add(
        { ...origin, ...numbers, step, metrics: { eval_reward: during ? step + 0.25 : 9 }, duringTraining: during },
        [],
      );
    const files = exportRun(store, runId, temporaryFolder());
    expect(readFileSync(files.metrics, 'utf8')).toBe('step,eval_reward,reward\n0,0.25,\n1,1.25,0.5\n');
    expect(files.steps).toBe(1);
  });

  it('gives back a file by its name, and nothing else', async () => {
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({}));
    const folder = join(temporaryFolder(), 'export');
    expect(errorOf(() => exportedFile(folder, 'metrics.csv'))).toMatchObject({ code: 'FILE_UNKNOWN' });
    exportRun(store, runId, folder);
    expect(await exportedFile(folder, 'metrics.csv').text()).toBe('step\n');
    expect(errorOf(() => exportedFile(folder, '../braid.db'))).toMatchObject({ code: 'FILE_UNKNOWN' });
  });

  it('neither writes nor reads through a link', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, parseConfig({}));
    const theirs = temporaryFolder();
    writeFileSync(join(theirs, 'metrics.csv'), 'private');
    const place = join(folder, 'export');
    symlinkSync(theirs, place);
    const refused = { code: 'EXPORT_IS_LINK', remedy: expect.stringContaining(folder) };
    expect(errorOf(() => exportRun(store, runId, place))).toMatchObject(refused);
    expect(errorOf(() => exportedFile(place, 'metrics.csv'))).toMatchObject(refused);
    expect(readdirSync(theirs)).toEqual(['metrics.csv']);
    expect(readFileSync(join(theirs, 'metrics.csv'), 'utf8')).toBe('private');
    rmSync(place);
    mkdirSync(place);
    symlinkSync(join(theirs, 'metrics.csv'), join(place, 'metrics.csv'));
    expect(errorOf(() => exportedFile(place, 'metrics.csv'))).toMatchObject({ code: 'EXPORT_IS_LINK' });
  });

  it('says that a file is in place of the folder, or of one above it', () => {
    const root = temporaryFolder();
    const store = temporaryStore(root);
    const runId = addRun(store);
    const file = join(root, 'run');
    writeFileSync(file, 'mine');
    const refused = (folder: string) => errorOf(() => exportRun(store, runId, folder));
    expect(refused(file)).toMatchObject({ code: 'WRITE_FAILED', message: expect.stringContaining('is a file') });
    expect(refused(join(file, 'export'))).toMatchObject({ code: 'NO_FOLDER' });
    expect(errorOf(() => exportedFile(join(file, 'export'), 'metrics.csv'))).toMatchObject({ code: 'FILE_UNKNOWN' });
  });

  it('writes what there is of a run that kept nothing, and rejects an unknown run', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({}));
    expect(exportRun(store, runId, temporaryFolder())).toMatchObject({ completions: null, steps: 0, samples: 0 });
    expect(() => exportRun(store, 99, temporaryFolder())).toThrow('99');
  });
});
