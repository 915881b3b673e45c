/** The forgetting check as a job, by hand or after each stage. */
import { BraidError } from '../errors.ts';
import type { StageRow } from '../store/stages.ts';
import type { App } from './app.ts';
import { checkForgetting, forgetting } from './forgetting.ts';
import type { StartedJob } from './jobs.ts';
import type { Settings } from './settings.ts';

type Part = Pick<App, 'store' | 'paths' | 'changes' | 'jobs'>;

/** Begins the check. */
export function startForgettingCheck({ store, paths, changes, jobs }: Part): StartedJob<void> {
  return jobs.start('forgetting', 'Check what was forgotten', async (context) => {
    await checkForgetting(store, paths, context);
    changes.publish('evaluations');
  });
}

/** What the queue waits for after a stage: the check, where the person wants it and something is left to measure. */
export function forgettingAfterStage(
  app: Part & Pick<App, 'notices'> & { readonly settings: () => Settings },
): (stage: StageRow) => Promise<void> {
  return async (stage) => {
    if (!app.settings().forgetting_check || forgetting(app.store, app.paths).missing === 0) return;
    try {
      await startForgettingCheck(app).result;
    } catch (error) {
      // The curriculum goes on without the measurement; one that a person ended needs no word.
      if (error instanceof BraidError && error.code === 'INTERRUPTED') return;
      const message = `What "${stage.name}" forgot could not be measured: ${(error as Error).message}`;
      app.notices.add({ severity: 'warning', message, remedy: 'Measure it again in the curriculum.', runId: null });
    }
  };
}
