/** What an agent may read: the contract's read calls, shortened to what fits into its context. */
import { z } from 'zod';
import { listComparisons, readComparison } from '../../services/comparisons/paired/index.ts';
import { diffConfigs } from '../../services/config/diff.ts';
import { configForm } from '../../services/config/form.ts';
import { listDatasets } from '../../services/library/catalogue.ts';
import { listModels } from '../../services/models/list.ts';
import { presetsHere } from '../../services/models/starting-model.ts';
import { type RunSummary, refreshCheckpoints, runHistory } from '../../services/runs/history.ts';
import { eventReport, runReport, sampleReport } from '../../services/runs/run-report.ts';
import { runView } from '../../services/runs/run-view.ts';
import { requireRun } from '../../services/runs/runs.ts';
import { stepExtremes } from '../../services/runs/samples/samples.ts';
import { savedFields } from '../../services/runs/saved-config.ts';
import type { OpenWorkspace } from '../../services/workspace/open-workspace.ts';
import { states } from '../contract/runs.ts';
import { type Tool, tool } from './tool.ts';

export type ReadPlace = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

/** Events of a run in its details. */
const EVENTS = 30;

const id = z.int().min(1);
const run_id = id.describe('As list_runs gives it.');

/** The tools that read. */
export function readTools({ store, workspace, paths }: ReadPlace): readonly Tool[] {
  const place = { store, workspace, paths };
  return [
    tool(
      'list_runs',
      {
        description:
          'The training runs of the workspace, the newest first, with their newest reward and held-out score.',
        input: z.strictObject({
          limit: z.int().min(1).max(200).default(20),
          states: z.array(states).optional(),
          before: id.optional().describe('Only runs with a smaller id: the next page.'),
        }),
      },
      (input) => ({ runs: runHistory(store, input).map(runRow) }),
    ),
    tool(
      'get_run',
      {
        description:
          'One run: state, time left, newest metrics, held-out score, verdict with advice, best and worst completion, whole configuration, checkpoints, newest events.',
        input: z.strictObject({ run_id }),
      },
      ({ run_id }) => {
        const view = store.snapshot(() => runView(store, run_id));
        return {
          ...runReport(view),
          folder: view.run.folder,
          config: savedFields(requireRun(store, run_id)),
          checkpoints: refreshCheckpoints(store, run_id).map(({ id, step, kind, path, deletedAt }) => {
            return { checkpoint_id: id, step, kind, path, deleted: deletedAt !== null };
          }),
          events: view.events.slice(-EVENTS).map(eventReport),
        };
      },
    ),
    tool(
      'get_metrics',
      {
        description: 'Metrics of a run over its steps: means of at most `count` equal parts, as [last step, mean].',
        input: z.strictObject({
          run_id,
          names: z.array(z.string().min(1).max(100)).min(1).max(20).default(['reward', 'loss', 'kl', 'entropy']),
          count: z.int().min(1).max(500).default(40),
          from: z.int().min(0).optional().describe('The first step.'),
          to: z.int().min(0).optional().describe('The last step.'),
        }),
      },
      ({ run_id, names, count, from, to }) => {
        const { step } = requireRun(store, run_id);
        const range = from === undefined && to === undefined ? undefined : { from: from ?? 0, to: to ?? step };
        const buckets = store.metrics.bucketsOf(run_id, names, count, range);
        const series = Object.entries(buckets).map(([name, of]) => [name, of.map((b) => [b.lastStep, b.mean])]);
        return { available: store.metrics.names(run_id), series: Object.fromEntries(series) };
      },
    ),
    tool(
      'get_completions',
      {
        description: 'The best and the worst completion of a step of a run, with prompt, target and reward.',
        input: z.strictObject({
          run_id,
          step: z.int().min(0).optional().describe('By default the newest stored one.'),
        }),
      },
      ({ run_id, step }) => {
        requireRun(store, run_id);
        const found = store.snapshot(() => stepExtremes(store, run_id, step));
        const steps = store.samples.steps(run_id);
        if (found === null) return { steps, step: null, n: 0, best: null, worst: null };
        const { n, best, worst } = found;
        return { steps, step: found.step, n, best: sampleReport(best), worst: worst && sampleReport(worst) };
      },
    ),
    tool(
      'compare_configs',
      {
        description: 'The settings in which runs differ.',
        input: z.strictObject({ run_ids: z.array(id).min(2).max(4) }),
      },
      ({ run_ids }) => ({ differences: diffConfigs(run_ids.map((run) => savedFields(requireRun(store, run)))) }),
    ),
    tool('list_datasets', { description: 'The datasets of the workspace.', input: z.strictObject({}) }, () => ({
      datasets: listDatasets(store).map(({ id, name, file, task, words, trainN, testN, leakage, runs }) => {
        return { dataset_id: id, name, file, task, words, train: trainN, test: testN, leakage, runs };
      }),
    })),
    tool(
      'list_models',
      {
        description: 'Bundled and imported models, and the checkpoints of runs. `model` is what a configuration takes.',
        input: z.strictObject({}),
      },
      () => ({
        models: listModels(place).map(({ ref, kind, name, model, run, checkpointId, step, parameters, ...rest }) => {
          const { architecture, problem } = rest;
          const of = { run_id: run?.id ?? null, checkpoint_id: checkpointId, step };
          return { reference: ref, kind, name, model, ...of, architecture, parameters, problem };
        }),
      }),
    ),
    tool(
      'list_comparisons',
      { description: 'Comparisons of models on frozen held-out prompts, the newest first.', input: z.strictObject({}) },
      () => ({
        comparisons: listComparisons(store).map(({ id, madeAt, prompts, models, verdict }) => {
          return { comparison_id: id, made_at: new Date(madeAt).toISOString(), prompts, models, verdict };
        }),
      }),
    ),
    tool(
      'get_comparison',
      {
        description: 'One comparison: each model with its mean, interval and difference from the baseline.',
        input: z.strictObject({ comparison_id: id.describe('As list_comparisons gives it.') }),
      },
      ({ comparison_id }) => {
        const { prompts, models, verdict } = readComparison(place, comparison_id);
        return { comparison_id, prompts, models, verdict };
      },
    ),
    tool(
      'describe_config',
      {
        description: 'Every field of a configuration with its default, unit and meaning, and the presets by name.',
        input: z.strictObject({}),
      },
      () => ({
        fields: configForm().map(({ name, default: usual, unit, doc }) => ({ name, default: usual, unit, doc })),
        presets: presetsHere(place),
      }),
    ),
  ];
}

function runRow({ id, name, state, reason, method, task, model, dataset, step, maxSteps, latest, ...run }: RunSummary) {
  const { evaluation, baselineScore: baseline, stageId: stage_id, startedAt, endedAt } = run;
  return {
    run_id: id,
    name,
    state,
    reason,
    method,
    task,
    model,
    dataset,
    stage_id,
    step,
    max_steps: maxSteps,
    reward: latest.reward?.value ?? null,
    baseline,
    held_out: evaluation?.mean ?? null,
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
  };
}

function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
