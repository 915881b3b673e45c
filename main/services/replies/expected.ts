/** The estimated time of the four runs, from the newest small-scale test or earlier runs. */

import { formatDuration, formatMoney } from '../../text/format.ts';
import { type ReplyRun, replyRuns } from '../recipes/reply-presets.ts';
import { costOf } from '../runs/cost.ts';
import { type ChecklistItem, done, open } from '../training/checklist-items.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { readSettings } from '../workspace/settings.ts';
import { isReinforced } from './methods.ts';
import { chosenStart, methodFields } from './start-points.ts';
import type { ReplyState } from './stored-state.ts';

type Part = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

/** Seconds of all four runs, from the pace of the small-scale test; null before there is one. */
function expectedSeconds(app: Part, { trial }: Pick<ReplyState, 'trial'>): number | null {
  const [sft, grpo] = (trial?.runIds ?? []).map((runId) => paceOf(app.store, runId));
  if (sft === undefined || grpo === undefined || Number.isNaN(sft + grpo)) return null;
  const steps = (name: ReplyRun): number =>
    Number(methodFields(app, name, isReinforced(name) ? chosenStart(app) : null).max_steps ?? 0);
  return replyRuns.reduce((sum, name) => sum + steps(name) * (isReinforced(name) ? grpo : sft), 0);
}

function paceOf(store: OpenWorkspace['store'], runId: number): number {
  const times = store.metrics.series(runId, 'step_time').map(({ value }) => value);
  return times.reduce((sum, value) => sum + value, 0) / times.length;
}

/** The same as a checklist item, with its cost if a price is set. */
export function expectedItem(app: Part, memory: Pick<ReplyState, 'trial'>): ChecklistItem<'time'> {
  const seconds = expectedSeconds(app, memory);
  const next = 'The small-scale test measures the pace.';
  if (seconds === null) return open('time', 'not known yet', next);
  const { cost, currency } = costOf(seconds, readSettings(app.store));
  const price = cost === null ? '' : `, ${formatMoney(cost, currency)}`;
  return done('time', `about ${formatDuration(seconds)} for the four runs${price}`);
}
