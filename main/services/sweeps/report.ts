/** A sweep as plain numbers: for scripts and agents. */
import type { SweepView } from './result.ts';

/** What `--json` prints, and an agent gets. */
export function sweepReport(view: SweepView): object {
  const { id, name, state, reason, runs, over, failed, rungs, scoreKind, rows } = view;
  const best = rows.find((row) => row.best);
  return {
    sweep_id: id,
    name,
    state,
    reason,
    runs,
    over,
    failed,
    rungs,
    score: scoreKind,
    best: best === undefined ? null : best.values,
    settings: rows.map((row) => ({
      values: row.values,
      n: row.n,
      mean: row.mean,
      interval: row.interval === null ? null : { low: row.interval.low, high: row.interval.high },
      leads: row.leads,
      tied: row.tied,
      best: row.best,
      stopped_at: row.stoppedAt,
      behind:
        row.behind === null
          ? null
          : {
              difference: row.behind.difference,
              paired: row.behind.paired,
              p: row.behind.p,
              p_corrected: row.behind.pCorrected,
              significant: row.behind.significant,
            },
      pass_at_k: Object.fromEntries(row.passRates.map(({ k, rate }) => [k, rate])),
      trials: row.trials.map(({ seed, runId, state, reason, score }) => ({
        seed,
        run_id: runId,
        state,
        reason,
        score,
      })),
    })),
  };
}
