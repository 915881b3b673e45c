import type { SweepView } from '../../main/api/contract/index.ts';

/** The name of a sweep's score: the metric that its settings are compared by. */
export function scoreName(kind: SweepView['scoreKind']): string {
  return kind === 'reward' ? 'Training reward' : 'Held-out score';
}
