import { join } from 'node:path';
import { stringify } from 'yaml';
import { inputError } from '../../errors.ts';
import { adviseNext, runAdvice, runConfig } from '../../services/advice.ts';
import { diffConfigs } from '../../services/config-diff.ts';
import { exportRun } from '../../services/exports.ts';
import { preflight } from '../../services/preflight.ts';
import { readPreset } from '../../services/presets.ts';
import { runCost } from '../../services/run-cost.ts';
import { asEnded, lineage, refreshCheckpoints, runDetail, runHistory } from '../../services/run-history.ts';
import { removalOf } from '../../services/run-removal.ts';
import { sparklines } from '../../services/run-sparklines.ts';
import { runStanding, watchRun } from '../../services/run-watch.ts';
import { removeRun, renameRun, requireRun } from '../../services/runs.ts';
import { readSettings } from '../../services/settings.ts';
import { watchedSeries } from '../../services/watched-series.ts';
import type { Store } from '../../store/index.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config.ts';
import { checkConfigPaths } from '../config-paths.ts';
import { type ApiContext, api } from '../context.ts';

export const runs = {
  list: api.runs.list.handler(({ context: { app }, input }) =>
    runHistory(app.store, input).map((run) => asEnded(run, app.live.lost)),
  ),
  get: api.runs.get.handler(({ context: { app }, input }) => asEnded(runDetail(app.store, input.runId), app.live.lost)),
  lineage: api.runs.lineage.handler(({ context, input }) => lineage(context.app.store, input.runId)),
  buckets: api.runs.buckets.handler(({ context: { app }, input: { runId, names, count, range } }) =>
    app.store.metrics.bucketsOf(requireRun(app.store, runId).id, names, count, range),
  ),
  series: api.runs.series.handler(({ context: { app }, input: { runId, names, range } }) =>
    app.store.metrics.seriesOf(requireRun(app.store, runId).id, names, range),
  ),
  sparklines: api.runs.sparklines.handler(({ context: { app }, input: { runIds, name, count } }) =>
    sparklines(app.store, runIds, name, count),
  ),
  standing: api.runs.standing.handler(({ context: { app }, input }) => runStanding(app.store, app.live, input.runId)),
  watch: api.runs.watch.handler(({ context: { app }, input, signal }) =>
    watchRun(app.store, app.live, app.changes, { ...input, signal }),
  ),
  start: api.runs.start.handler(({ context, input }) => ({
    runId: context.app.live.start(newRun(context, input), input.name === undefined ? {} : { name: input.name }),
  })),
  preflight: api.runs.preflight.handler(({ context, input }) => {
    const config = newRun(context, input);
    return context.app.jobs.start('preflight', 'Check a run before its start', (job) =>
      preflight(context.app, () => config, null, job),
    ).result;
  }),
  pause: api.runs.pause.handler(({ context, input }) => context.app.live.command(input.runId, 'pause')),
  resume: api.runs.resume.handler(({ context: { app }, input: { runId, checkpointId, maxSteps } }) => {
    const state = app.live.get(runId)?.state;
    // A process on its way out takes no commands: `live.resume` says so.
    if (state !== undefined && state !== 'ending') return app.live.command(runId, 'resume');
    return app.live.resume(runId, {
      ...(checkpointId !== undefined && { checkpoint: requireCheckpoint(app.store, runId, checkpointId) }),
      ...(maxSteps !== undefined && { maxSteps }),
    });
  }),
  stop: api.runs.stop.handler(({ context, input }) => context.app.live.command(input.runId, 'stop')),
  kill: api.runs.kill.handler(({ context, input }) => context.app.live.kill(input.runId)),
  rename: api.runs.rename.handler(({ context: { app }, input: { runId, name } }) => {
    renameRun(app.store, runId, name);
    app.changes.publish('run', runId);
    app.changes.publish('runs', runId);
  }),
  remove: api.runs.remove.handler(({ context: { app }, input: { runId } }) => {
    if (app.live.get(runId) !== null)
      throw inputError('RUN_IS_LIVE', `Expected run ${runId} to have ended, but it is training`, 'Stop it first.');
    removeRun(app.store, runId);
    app.changes.publish('runs');
    app.changes.publish('samples', runId);
  }),
  removal: api.runs.removal.handler(({ context: { app }, input }) => removalOf(app.store, input.runId)),
  compareConfigs: api.runs.compareConfigs.handler(({ context: { app }, input: { runIds } }) =>
    diffConfigs(runIds.map((runId) => JSON.parse(requireRun(app.store, runId).configJson))),
  ),
  advice: api.runs.advice.handler(({ context, input }) => runAdvice(context.app.store, input.runId)),
  advised: api.runs.advised.handler(({ context, input: { runId, rules } }) =>
    adviseNext(context.app.store, runId, rules),
  ),
  watched: api.runs.watched.handler(({ context, input }) => watchedSeries(context.app.store, input.runId)),
  cost: api.runs.cost.handler(({ context: { app }, input }) =>
    runCost(app.store, input.runId, readSettings(app.store)),
  ),
  export: api.runs.export.handler(({ context: { app }, input: { runId } }) => {
    const { name, folder: own } = runDetail(app.store, runId);
    const folder = join(own, 'export');
    return app.jobs.start('export', `Export ${name}`, async () => ({ ...exportRun(app.store, runId, folder), folder }))
      .result;
  }),
  config: api.runs.config.handler(({ context: { app }, input: { runId } }) => {
    const { config, folder } = runDetail(app.store, runId);
    return { yaml: stringify(config), file: join(folder, 'run.yaml') };
  }),
};

interface NewRun {
  readonly preset: string;
  readonly like?: number | undefined;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The settings that a page asks for, over those of a preset or of a run. */
function newRun({ app, access }: ApiContext, { preset, like, config }: NewRun): TrainConfig {
  const usual = like === undefined ? readPreset(preset, app.paths) : runConfig(app.store, like);
  const parsed = parseConfig({ ...usual, ...config }, 'The new run');
  checkConfigPaths(parsed, access, app);
  return parsed;
}

function requireCheckpoint(store: Store, runId: number, checkpointId: number) {
  const checkpoint = refreshCheckpoints(store, runId).find(({ id }) => id === checkpointId);
  if (checkpoint === undefined)
    throw inputError('CHECKPOINT_UNKNOWN', `Expected a checkpoint of run ${runId}, got the id ${checkpointId}`);
  if (checkpoint.deletedAt === null) return checkpoint;
  throw inputError(
    'CHECKPOINT_MISSING',
    `${checkpoint.path}: expected a checkpoint folder, there is none`,
    'Choose another checkpoint of the run.',
  );
}
