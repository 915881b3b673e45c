/** What the collapse watch said of a run. */
import type { EventRow } from '../../main/store/events.ts';
import { RULES } from '../../main/trainer/monitor/collapse-watch.ts';

/** Its first warning; null: none. Others warn of a run, too, such as of a file that can't be written. */
export function verdictOf(events: readonly Pick<EventRow, 'kind' | 'step' | 'message' | 'data'>[]): string | null {
  const warning = events.find(({ kind, data }) => kind === 'warning' && isOfWatch(data));
  return warning === undefined ? null : `step ${warning.step}: ${warning.message}`;
}

function isOfWatch(data: unknown): boolean {
  const rule = typeof data === 'object' && data !== null && 'rule' in data ? data.rule : null;
  return RULES.some((name) => name === rule);
}
