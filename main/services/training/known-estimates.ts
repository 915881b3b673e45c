/** What pre-flight checks have estimated, for the start of the same run: it needn't be measured twice. */
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { RunEstimate } from '../../trainer/protocol/start.ts';

/** For as long as the host lives: another day the machine may be another one. */
const known = new WeakMap<object, Map<string, RunEstimate>>();
const MOST = 50;

/** Remembers the estimate of a planned run. `owner` is the workspace's store. */
export function rememberEstimate(owner: object, config: TrainConfig, estimate: RunEstimate): void {
  const estimates = known.get(owner) ?? new Map<string, RunEstimate>();
  known.set(owner, estimates);
  estimates.set(keyOf(config), estimate);
  const [oldest] = estimates.keys();
  if (estimates.size > MOST && oldest !== undefined) estimates.delete(oldest);
}

/** The estimate of such a run; null if none was made. */
export function knownEstimate(owner: object, config: TrainConfig): RunEstimate | null {
  return known.get(owner)?.get(keyOf(config)) ?? null;
}

/** A step of a longer run takes as long. */
function keyOf(config: TrainConfig): string {
  return JSON.stringify({ ...config, max_steps: 0, num_train_epochs: null });
}
