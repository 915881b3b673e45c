/** A run for a report: its curves, the best and the worst of its stored steps, and what repeats it. */
import { basename } from 'node:path';
import type { Store } from '../../store/index.ts';
import { configForm } from '../config/form.ts';
import { runCost } from '../runs/cost.ts';
import { evaluationDataset } from '../runs/evaluation.ts';
import { runDetail, runSummary } from '../runs/history.ts';
import { requireRun } from '../runs/runs.ts';
import { runSamples, stepExtremes } from '../runs/samples/samples.ts';
import { runVerdict } from '../runs/verdict/run-verdict.ts';
import { readSettings } from '../workspace/settings.ts';
import { hashOf } from './file-hash.ts';
import type { ReportedFile, ReportedStep, RunContent } from './report.ts';

/** Buckets a metric: about one for every two pixels of the widest chart. */
const BUCKETS = 500;

/** A run's content with at most `steps` of its stored steps, evenly spread, the first and the last among them. */
export function runContent(store: Store, runId: number, steps: number): RunContent {
  const detail = { ...runDetail(store, runId), ...noProcess };
  const stored = runSamples(store, runId).steps;
  return {
    kind: 'run',
    detail,
    standing: { run: { ...runSummary(store, runId), ...noProcess }, verdict: runVerdict(store, runId) },
    curves: store.metrics.bucketsOf(runId, [...detail.metricNames], BUCKETS),
    cost: runCost(store, runId, readSettings(store)),
    steps: evenly(stored, steps).flatMap((at) => reportedStep(store, runId, at)),
    storedSteps: stored.length,
    defaults: Object.fromEntries(configForm().map((field) => [field.name, field.default])),
    files: filesOf(store, runId),
    earlierMethods: store.runs.ancestors(runId).map(({ method }) => method),
    commands: commandsOf(detail),
  };
}

/** Of the machine that trained it. */
const noProcess = { pid: null, hostId: null, heartbeatAt: null };

function reportedStep(
  store: Store,
  runId: number,
  at: ReturnType<typeof runSamples>['steps'][number],
): readonly ReportedStep[] {
  const found = stepExtremes(store, runId, at.step);
  return found === null ? [] : [{ ...at, best: found.best, worst: found.worst }];
}

/** `count` of them, the first and the last among them. */
export function evenly<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  if (count < 2) return items.slice(-count);
  const at = (i: number): number => Math.round((i * (items.length - 1)) / (count - 1));
  return Array.from({ length: count }, (_, i) => items[at(i)]).filter((item) => item !== undefined);
}

function filesOf(store: Store, runId: number): readonly ReportedFile[] {
  const run = requireRun(store, runId);
  const file = (path: string, what: ReportedFile['what']) => ({ name: basename(path), what, sha256: hashOf(path) });
  const earlier = new Set(store.runs.ancestors(runId).map(({ dataset }) => dataset));
  earlier.delete(run.dataset);
  const path = evaluationDataset(run);
  const heldOut = file(path, 'held-out records');
  // Without a file and a score on it there never were any.
  const isKnown = heldOut.sha256 !== null || store.evaluations.newestOfRun(runId, path) !== undefined;
  return [
    ...[...earlier].map((dataset) => file(dataset, 'earlier training records')),
    file(run.dataset, 'training records'),
    ...(isKnown ? [heldOut] : []),
  ];
}

function commandsOf({ config, dataset, parentCheckpointId }: RunContent['detail']): readonly string[] {
  const from = parentCheckpointId === null ? '' : ' --from CHECKPOINT';
  return [
    `braid train --config run.yaml --dataset ${basename(dataset)}${from} --seed ${String(config.seed ?? 42)}`,
    `braid compare --baseline ${parentCheckpointId === null ? basename(String(config.model)) : 'CHECKPOINT'} --trained outputs/RUN/checkpoint-STEP --dataset HELD_OUT.jsonl --output comparison`,
  ];
}
