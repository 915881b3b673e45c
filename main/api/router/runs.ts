import { join } from 'node:path';
import { stringify } from 'yaml';
import { inputError } from '../../errors.ts';
import type { App } from '../../services/app/app.ts';
import { diffConfigs } from '../../services/config/diff.ts';
import { stageStart } from '../../services/curriculum/stage-config.ts';
import { runCost } from '../../services/runs/cost.ts';
import { exportedFile, exportRun } from '../../services/runs/exports/exports.ts';
import { readStderr } from '../../services/runs/files.ts';
import { asEnded, lineage, runDetail, runHistory } from '../../services/runs/history.ts';
import { annotateRun } from '../../services/runs/notes.ts';
import { removalOf } from '../../services/runs/removal.ts';
import { removeRun, renameRun, requireRun } from '../../services/runs/runs.ts';
import { savedFields } from '../../services/runs/saved-config.ts';
import { variedSettings } from '../../services/runs/varied-settings.ts';
import { adviseNext, runAdvice } from '../../services/runs/verdict/advice.ts';
import { sparklines, watchedSeries } from '../../services/runs/watched-series.ts';
import { wholeCheckpoint } from '../../services/runs/whole-checkpoint.ts';
import { engineOfRun, requireUp } from '../../services/servers/require-up.ts';
import { preflight } from '../../services/training/preflight.ts';
import { runStanding, watchRun } from '../../services/training/run-watch.ts';
import { runSignal, signalNext } from '../../services/training/signal/run-signal.ts';
import { resultWhileAsked } from '../../services/workspace/asked-job.ts';
import { ownRunFolder, requireRunFolder } from '../../services/workspace/own-folders.ts';
import { readSettings } from '../../services/workspace/settings.ts';
import { api } from '../context.ts';
import { newRunConfig, resumeRun } from '../run-control.ts';

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
    runId: context.app.live.start(
      newRunConfig(context.app, context.access, input),
      input.name === undefined ? {} : { name: input.name },
    ),
  })),
  preflight: api.runs.preflight.handler(({ context: { app, access }, input, signal }) => {
    const config = newRunConfig(app, access, input);
    const job = app.jobs.start('preflight', 'Pre-flight check of a run', (job) =>
      preflight(app, () => config, null, job),
    );
    return resultWhileAsked(app.jobs, job, signal);
  }),
  pause: api.runs.pause.handler(({ context, input }) => context.app.live.command(input.runId, 'pause')),
  resume: api.runs.resume.handler(async ({ context: { app }, input }) => {
    if (app.live.get(input.runId) === null) await requireEngineUp(app, input.runId);
    resumeRun(app.store, app.live, input);
  }),
  wholeCheckpoint: api.runs.wholeCheckpoint.handler(({ context, input, signal }) =>
    wholeCheckpoint(context.app.store, input.runId, signal),
  ),
  stop: api.runs.stop.handler(({ context, input }) => context.app.live.command(input.runId, 'stop')),
  kill: api.runs.kill.handler(({ context: { app }, input: { runId } }) => {
    app.queue.sweeps.killing(runId);
    app.live.kill(runId);
  }),
  rename: api.runs.rename.handler(({ context: { app }, input: { runId, name } }) => {
    renameRun(app.store, runId, name);
    app.changes.publish('run', runId);
    app.changes.publish('runs', runId);
    // Its checkpoints and its stage have its name.
    for (const topic of ['models', 'stages', 'evaluations'] as const) app.changes.publish(topic);
  }),
  annotate: api.runs.annotate.handler(({ context: { app }, input: { runId, ...notes } }) => {
    annotateRun(app.store, runId, notes);
    app.changes.publish('runs', runId);
  }),
  remove: api.runs.remove.handler(({ context: { app }, input: { runId } }) => {
    if (app.live.get(runId) !== null)
      throw inputError('RUN_IS_LIVE', `Expected run ${runId} to have ended, but it is training`, 'Stop it first.');
    removeRun(app.store, runId);
    app.changes.publish('samples', runId);
    for (const topic of ['runs', 'models', 'stages', 'evaluations', 'datasets'] as const) app.changes.publish(topic);
  }),
  removal: api.runs.removal.handler(({ context: { app }, input }) =>
    removalOf(app.store, input.runId, (stage) => stageStart(app.store, stage, app.paths)),
  ),
  compareConfigs: api.runs.compareConfigs.handler(({ context: { app }, input: { runIds } }) =>
    diffConfigs(runIds.map((runId) => savedFields(requireRun(app.store, runId)))),
  ),
  settings: api.runs.settings.handler(({ context: { app }, input }) => variedSettings(app.store, input.runIds)),
  advice: api.runs.advice.handler(({ context, input }) => runAdvice(context.app.store, input.runId)),
  advised: api.runs.advised.handler(({ context, input: { runId, rules } }) =>
    adviseNext(context.app.store, runId, rules),
  ),
  signal: api.runs.signal.handler(({ context, input }) => runSignal(context.app.store, input.runId)),
  signalNext: api.runs.signalNext.handler(({ context, input: { runId, setting } }) =>
    signalNext(context.app.store, runId, setting),
  ),
  watched: api.runs.watched.handler(({ context, input }) => watchedSeries(context.app.store, input.runId)),
  cost: api.runs.cost.handler(({ context: { app }, input }) =>
    runCost(app.store, input.runId, readSettings(app.store)),
  ),
  stderr: api.runs.stderr.handler(({ context: { app }, input }) => {
    const folder = ownRunFolder(app.store, requireRun(app.store, input.runId).folder);
    return { text: folder === null ? null : readStderr(folder) };
  }),
  export: api.runs.export.handler(({ context: { app }, input: { runId } }) => {
    const { name } = requireRun(app.store, runId);
    const folder = exportFolder(app, runId);
    return app.jobs.start('export', `Export ${name}`, async () => ({ ...exportRun(app.store, runId, folder), folder }))
      .result;
  }),
  exportedFile: api.runs.exportedFile.handler(({ context: { app }, input: { runId, file } }) =>
    exportedFile(exportFolder(app, runId), file),
  ),
  config: api.runs.config.handler(({ context: { app }, input: { runId } }) => {
    const { config, folder } = runDetail(app.store, runId);
    return { yaml: stringify(config), file: join(folder, 'run.yaml') };
  }),
};

function exportFolder({ store }: App, runId: number): string {
  return join(requireRunFolder(store, requireRun(store, runId)), 'export');
}

/** A run whose launched server has ended would wait ten minutes for it, and then fail. */
async function requireEngineUp({ store, engines, servers }: App, runId: number): Promise<void> {
  const engine = engineOfRun(store, engines, runId);
  if (engine !== null) await requireUp(servers, engine);
}
