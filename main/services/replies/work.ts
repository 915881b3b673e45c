/** The reply system's long work as jobs of the app: split, small-scale test, the whole system, the comparison. */
import { BraidError, inputError } from '../../errors.ts';
import type { SplitOptions } from '../datasets/reply-split/split.ts';
import { compareReplies, DEMO_RATIO, runReplyDemo } from '../recipes/reply-demo.ts';
import { replyRuns } from '../recipes/reply-presets.ts';
import { runTrial } from '../recipes/trial.ts';
import type { LiveWorkspace } from '../training/live-runs.ts';
import type { TrainToEnd } from '../training/training.ts';
import { type ReplyHost, replyData } from './data.ts';
import { splitRecord } from './keep-split.ts';
import { isReinforced, methodCheckpoints } from './methods.ts';
import { experimentName, methodFields, modelFields, startPoints } from './start-points.ts';
import { readReplyState, remember, replyFolder, reportIn } from './stored-state.ts';

/** Splits the data into files for both phases. */
export function startSplit(app: ReplyHost, { ratio, seed }: SplitOptions) {
  const { train } = replyData(app);
  return app.jobs.start('replies', 'Split the replies', async () => {
    await splitInto(app, train, { ratio, seed });
  });
}

async function splitInto(app: ReplyHost, train: string, { ratio, seed }: SplitOptions): Promise<void> {
  const request = { input: train, folder: app.workspace.datasets, ratio, seed };
  const before = readReplyState(app.store).split;
  const { split } = await app.library.workers.run('splitReplyRecords', request);
  // The same split again: runs on it are still of it.
  const at = before?.ratio === ratio && before.seed === seed ? before.at : app.store.now();
  tell(app, { split: splitRecord(split, { ratio, seed }, at) });
}

/** The small-scale test with the settings of the baseline and of GRPO; stopping it makes a no-go. */
export function startTrial(app: ReplyHost, seed: number): number {
  const { train: dataset } = replyData(app);
  const [sft, grpo] = [methodFields(app, 'baseline', null), methodFields(app, 'grpo_from_baseline', null)];
  const { id } = app.jobs.start('replies', 'Small-scale test', async ({ signal, progress }) => {
    const parts = ['sft', 'grpo'];
    const result = await runTrial(app.store, {
      paths: app.paths,
      dataset,
      seed,
      sft,
      grpo,
      onPart: (part) => progress({ done: parts.indexOf(part), total: parts.length, unit: 'runs' }),
      train: trainLive(app, signal),
      write: (request) => app.library.workers.run('writeTrialRecords', request),
    });
    tell(app, { trial: { ...result, at: app.store.now() } });
  });
  return id;
}

/** Split, the four runs and the comparison in one job. */
export function startWhole(app: ReplyHost, seed: number): number {
  const dataset = replyData(app);
  const output = replyFolder(app.workspace, seed);
  const fields = modelFields(app);
  // Its GRPO runs start from its own baseline, whatever checkpoint was chosen for manual runs.
  const points = { ...startPoints(app), start: null };
  const { id } = app.jobs.start('replies', 'Complete reply system', async ({ signal, progress }) => {
    const parts = ['split', ...replyRuns, 'comparison'];
    await splitInto(app, dataset.train, { ratio: DEMO_RATIO, seed });
    const { files } = await runReplyDemo(app.store, {
      paths: app.paths,
      seed,
      backend: 'auto',
      threads: 0,
      output,
      dataset,
      signal,
      fields,
      onPart: (part) => progress({ done: parts.indexOf(part), total: parts.length, unit: 'parts' }),
      onProgress: (done, total) => progress({ done, total, unit: 'held-out posts' }),
      train: trainLive(app, signal),
      split: (request) => app.library.workers.run('splitReplyRecords', request),
      experiment: (run) => experimentName(points, run, isReinforced(run)),
    });
    if (files === null)
      throw new BraidError('INTERRUPTED', 'A run was stopped early, so there is no comparison', {
        remedy: 'Finished runs are kept in the history. Compare them, or start again.',
      });
    tell(app, { report: reportIn(app, output) });
  });
  return id;
}

/** Compares the newest finished run of each method. */
export function startReport(app: ReplyHost, seed: number): number {
  const models = methodCheckpoints(app);
  if (models.length < 2)
    throw inputError(
      'TOO_FEW_MODELS',
      `Expected at least two methods with a finished run, got ${models.length}`,
      'Start the methods first.',
    );
  const output = replyFolder(app.workspace, seed);
  const { test: dataset } = replyData(app);
  const { id } = app.jobs.start('replies', `Compare ${models.length} methods`, async ({ signal, progress }) => {
    await compareReplies(models, {
      dataset,
      paths: app.paths,
      seed,
      backend: 'auto',
      threads: 0,
      output,
      signal,
      onProgress: (done, total) => progress({ done, total, unit: 'held-out posts' }),
    });
    tell(app, { report: reportIn(app, output) });
  });
  return id;
}

/** Runs as part of the app's live runs: shown, controlled and admitted like others; cancelling stops and saves. */
function trainLive({ live }: Pick<LiveWorkspace, 'live'>, signal: AbortSignal): TrainToEnd {
  return async (config, name) => {
    signal.throwIfAborted();
    const runId = live.start(config, { name });
    const stop = (): void => {
      if (live.get(runId) !== null) live.command(runId, 'stop');
    };
    signal.addEventListener('abort', stop, { once: true });
    const outcome = await live.outcome(runId);
    signal.removeEventListener('abort', stop);
    if (outcome !== null) return outcome;
    throw new BraidError('INTERRUPTED', `${name} ended immediately`, {
      remedy: `See the page of run ${runId} for the reason, then start again.`,
    });
  };
}

function tell(app: Pick<ReplyHost, 'store' | 'changes'>, change: Parameters<typeof remember>[1]): void {
  remember(app.store, change);
  app.changes.publish('replies');
}
