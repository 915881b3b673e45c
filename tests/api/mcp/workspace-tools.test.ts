import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workspaceTools } from '../../../main/api/mcp/workspace-tools.ts';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { addStage } from '../../../main/services/curriculum/edit.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { makeReport } from '../../services/replies/make-report.ts';
import { replyLines } from '../../services/reply-lines.ts';
import { addRun, sampleOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';

const paths = checkoutPaths(resolve(import.meta.dirname, '../../..'));

function open() {
  const root = temporaryFolder();
  const workspace = openWorkspace({ workspace: root });
  const store = temporaryStore(root);
  const tools = workspaceTools({ store, workspace, paths });
  // biome-ignore lint/suspicious/noExplicitAny: tests look at parts of what tools return.
  const call = (name: string, input: object = {}): any => tools.find((tool) => tool.name === name)?.call(input);
  return { root, store, tools, call };
}

it('are for reading', () => {
  expect(open().tools.every(({ readOnly }) => readOnly)).toBe(true);
});

describe('list_stages', () => {
  it('has each stage with its newest run, and what was forgotten', () => {
    const { root, store, call } = open();
    const file = writeTinyDataset(join(root, 'datasets', '3words.jsonl'), { words: 3, test: 3 });
    const row = { name: '3words', file, task: 'interleave', words: 3, trainN: 12, testN: 3, seed: 3 };
    const datasetId = store.datasets.record({ ...row, template: null, textHash: null });
    const stageId = addStage(store, { datasetId, config: { model: 'tiny' } });
    expect(call('list_stages')).toMatchObject({
      stages: [{ stage_id: stageId, state: 'planned', run: null, dataset: { name: '3words', train: 12, test: 3 } }],
      forgetting: { rows: [], not_measured: 0 },
    });
    const runId = addRun(store, { stageId });
    const checkpoint = join(root, 'checkpoint-20');
    writeTinyDataset(join(checkpoint, 'any.jsonl'));
    store.checkpoints.record(runId, 20, checkpoint, 'final');
    store.stages.setState(stageId, 'done');
    const { stages, forgetting } = call('list_stages');
    expect(stages).toMatchObject([
      { state: 'done', run: { run_id: runId, max_steps: 100 }, next_starts_from: { run_id: runId, step: 20 } },
    ]);
    expect(forgetting).toMatchObject({ lengths: [{ stage_id: stageId, words: 3 }], not_measured: 2 });
    expect(forgetting.rows).toMatchObject([
      { stage_id: null, held_out: [null] },
      { stage_id: stageId, held_out: [null] },
    ]);
  });
});

describe('list_tasks', () => {
  it('has the bundled ones with the components of their rewards', () => {
    const { tasks } = open().call('list_tasks');
    expect(tasks.length).toBeGreaterThan(0);
    for (const task of tasks) {
      expect(task).toMatchObject({ origin: 'bundled', problem: null, has_records: expect.any(Boolean) });
      expect(task.rewards.length).toBeGreaterThan(0);
    }
  });
});

describe('search_completions', () => {
  it('finds by words, reward and record over all runs, in pages', () => {
    const { store, call } = open();
    const [first, second] = [addRun(store, { name: 'first' }), addRun(store, { name: 'second' })];
    store.samples.record(first, 2, [sampleOf({ completion: 'a green parrot', reward: 0.1 })]);
    store.samples.record(second, 4, [
      sampleOf({ completion: 'a green frog', reward: 0.9, recordId: 'r2' }),
      sampleOf({ index: 1, completion: 'a red frog', reward: 0.5 }),
    ]);
    const green = call('search_completions', { words: 'green', order: 'highest' });
    expect(green).toMatchObject({
      found: 2,
      is_more: false,
      completions: [
        { run_id: second, run: 'second', step: 4, record_id: 'r2', reward: 0.9, excerpt: 'a green frog' },
        { run_id: first, reward: 0.1 },
      ],
    });
    expect(call('search_completions', { reward_above: 0.2, reward_below: 0.6 }).completions).toMatchObject([
      { run_id: second, index: 1 },
    ]);
    expect(call('search_completions', { run_id: second, record_id: 'r2' })).toMatchObject({ found: 1 });
    expect(call('search_completions', { order: 'lowest', limit: 1, offset: 1 })).toMatchObject({
      found: 3,
      completions: [{ reward: 0.5 }],
    });
    expect(() => call('search_completions', { word: 'green' })).toThrow(/"word"/);
  });
});

describe('get_reply_report', () => {
  it('has the newest report with its measures, and null before the first', async () => {
    const { root, store, call } = open();
    expect(call('get_reply_report')).toEqual({ report: null });
    const dataset = join(root, 'test.jsonl');
    writeFileSync(dataset, replyLines(24));
    const folder = await makeReport(store, { resources: paths.resources, dataset });
    const { report } = call('get_reply_report');
    expect(report).toMatchObject({ folder, files: expect.arrayContaining(['report.md']) });
    expect(report.models.map(({ name }: { name: string }) => name)).toContain('polychromic_grpo');
    expect(report.rows.length).toBeGreaterThan(0);
  });
});
