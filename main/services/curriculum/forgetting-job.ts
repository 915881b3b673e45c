/** The forgetting check as a job, by hand or after each stage. */
import { BraidError } from '../../errors.ts';
import type { StageRow } from '../../store/stages.ts';
import type { StartedJob } from '../workspace/jobs.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import type { Settings } from '../workspace/settings.ts';
import { checkForgetting, forgetting } from './forgetting.ts';

type Part = Pick<OpenWorkspace, 'store' | 'paths' | 'changes' | 'jobs'>;

/** Starts the check. */
export function startForgettingCheck({ store, paths, changes, jobs }: Part): StartedJob<void> {
  return jobs.start('forgetting', 'Forgetting check', async (context) => {
    await checkForgetting(store, paths, context);
    changes.publish('evaluations');
  });
}

/** What the queue waits for after a stage: the check, if it is enabled and something is left to measure. */
export function forgettingAfterStage(
  app: Part & Pick<OpenWorkspace, 'notices'> & { readonly settings: () => Settings },
): (stage: StageRow) => Promise<void> {
  return async (stage) => {
    try {
      if (!app.settings().forgetting_check || forgetting(app.store, app.paths).missing === 0) return;
      await startForgettingCheck(app).result;
    } catch (error) {
      // The curriculum continues without the measurement; one cancelled by the user needs no notice.
      if (error instanceof BraidError && error.code === 'INTERRUPTED') return;
      const message = `The forgetting check after "${stage.name}" failed: ${(error as Error).message}`;
      app.notices.add({
        severity: 'warning',
        message,
        remedy: 'The curriculum continues. Run the check again in the curriculum.',
        runId: null,
      });
    }
  };
}
