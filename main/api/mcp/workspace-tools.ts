/** What else an agent may read: the curriculum, tasks, stored completions of all runs, the report on replies. */
import { z } from 'zod';
import { stageView } from '../../services/curriculum/curriculum.ts';
import { forgetting } from '../../services/curriculum/forgetting.ts';
import { stageTimes } from '../../services/curriculum/time-left.ts';
import { replyReport } from '../../services/replies/report.ts';
import { requireRun } from '../../services/runs/runs.ts';
import { findSamples } from '../../services/runs/samples/find.ts';
import { listTasks } from '../../services/tasks/task-list.ts';
import type { Store } from '../../store/index.ts';
import type { SampleFilter } from '../../store/sample-finder.ts';
import type { ReadPlace } from './read-tools.ts';
import { type Tool, tool } from './tool.ts';

const nothing = z.strictObject({});
const bound = z.number().optional();

const search = z.strictObject({
  words: z.string().min(1).max(500).optional().describe('All must occur; the last may be the beginning of a word.'),
  in_prompts: z.boolean().default(false).describe('Look for the words in prompts too.'),
  run_id: z.int().min(1).optional(),
  step: z.int().min(0).optional(),
  record_id: z.string().max(500).optional(),
  reward_above: bound,
  reward_below: bound,
  component: z
    .strictObject({ name: z.string().min(1).max(200), above: bound, below: bound })
    .optional()
    .describe('A component of the reward, by its score.'),
  exact: z.boolean().optional().describe('Whether it equals its target.'),
  terminated: z.boolean().optional().describe('Whether it ended by itself.'),
  order: z.enum(['newest', 'lowest', 'highest']).default('newest').describe('By time or by reward.'),
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).max(1_000_000).default(0),
});

/** The tools that read what runs don't hold. */
export function workspaceTools({ store, workspace, paths }: ReadPlace): readonly Tool[] {
  return [
    tool(
      'list_stages',
      {
        description:
          'The curriculum: its stages in order with promotion rule, newest run, held-out scores and what the next one starts from; and what each stage has forgotten: held-out scores of every stage on every trained length.',
        input: nothing,
      },
      () => store.snapshot(() => ({ stages: stageRows({ store, paths }), forgetting: forgettingRows(store, paths) })),
    ),
    tool(
      'list_tasks',
      {
        description:
          'The tasks that have files, with the components of their rewards. `problem` says why one is unusable.',
        input: nothing,
      },
      () => ({
        tasks: listTasks({ workspace: workspace.root, paths }).map(({ maxTurns, hasRecords, ...task }) => {
          return { ...task, max_turns: maxTurns, has_records: hasRecords };
        }),
      }),
    ),
    tool(
      'search_completions',
      {
        description:
          'Finds stored completions of all runs by words, reward, components and record. Each has an excerpt; get_completions has whole texts.',
        input: search,
      },
      ({ order, limit, offset, ...asked }) => {
        if (asked.run_id !== undefined) requireRun(store, asked.run_id);
        const filter = filterOf(asked);
        const { count, isMore } = store.sampleFinder.count(filter);
        const found = findSamples(store, filter, { order, limit, offset });
        return { found: count, is_more: isMore, completions: found.map(foundRow) };
      },
    ),
    tool(
      'get_reply_report',
      {
        description:
          'The newest comparison of the four methods of the reply system: each measure by method, with intervals and differences. null before the first.',
        input: nothing,
      },
      () => {
        const report = replyReport({ store, workspace });
        if (report === null) return { report: null };
        const { folder, at, numbers, files } = report;
        return { report: { folder, made_at: new Date(at).toISOString(), files, ...numbers } };
      },
    ),
  ];
}

function stageRows({ store, paths }: Pick<ReadPlace, 'store' | 'paths'>) {
  const times = stageTimes(store, paths);
  return store.stages.list().map((stage) => {
    const { id, name, words, state, metScore, promotion, dataset, run, runs, scores, best, origin, handsOn } =
      stageView(store, stage, paths);
    const time = times.get(id);
    return {
      stage_id: id,
      name,
      words,
      state,
      promotion,
      runs,
      held_out: scores,
      met_without_training: metScore,
      dataset: dataset === null ? null : { name: dataset.name, train: dataset.trainN, test: dataset.testN },
      run: run === null ? null : { run_id: run.id, state: run.state, step: run.step, max_steps: run.maxSteps },
      best: best === null ? null : { run_id: best.runId, step: best.step, mean: best.mean },
      starts_from: origin.kind === 'model' ? { model: origin.name } : { run_id: origin.runId, step: origin.step },
      next_starts_from: handsOn === null ? null : { run_id: handsOn.runId, step: handsOn.step },
      seconds_left: time === undefined ? null : { low: time.low, high: time.high, basis: time.basis },
    };
  });
}

function forgettingRows(store: Store, paths: ReadPlace['paths']) {
  const { columns, rows, missing } = forgetting(store, paths);
  return {
    lengths: columns.map(({ stageId, name, words }) => ({ stage_id: stageId, name, words })),
    rows: rows.map(({ stageId, name, cells }) => ({ stage_id: stageId, name, held_out: cells })),
    not_measured: missing,
  };
}

type Search = Omit<z.output<typeof search>, 'order' | 'limit' | 'offset'>;

function filterOf({
  words,
  in_prompts,
  run_id,
  step,
  record_id,
  reward_above,
  reward_below,
  ...rest
}: Search): SampleFilter {
  const { component, exact, terminated } = rest;
  return {
    words,
    inPrompts: in_prompts,
    runId: run_id,
    step,
    recordId: record_id,
    above: reward_above,
    below: reward_below,
    component,
    exact,
    terminated,
  };
}

function foundRow({
  runId,
  runName,
  step,
  group,
  index,
  recordId,
  reward,
  ...sample
}: ReturnType<typeof findSamples>[number]) {
  const { components, length, terminated, excerpt } = sample;
  return {
    run_id: runId,
    run: runName,
    step,
    group,
    index,
    record_id: recordId,
    reward,
    components,
    length,
    terminated,
    excerpt: excerpt.map(({ text }) => text).join(''),
  };
}
