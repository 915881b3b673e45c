/** The policy loss of a micro-batch whose model is elsewhere: log-probabilities come, dC/dlogp goes. */
import { type BatchPlan, type MicroBatch, rowsOf } from '../batching/batching.ts';
import type { ScoredGeneration } from '../batching/generation.ts';
import type { RunConfig } from '../config/config.ts';
import type { LossReport } from '../engine/engine.ts';
import { longestCompletion, lossInputs, lossNormaliser, padRows } from '../losses/loss-inputs.ts';
import { type PolicyBatch, policyLoss } from '../losses/losses.ts';
import { logpDifference, samplingRatios } from '../losses/sampling-correction.ts';
import { type Row, rowsOfGeneration } from './rows.ts';

/** What the server does with rows; log-probabilities come back, one array a row. */
export interface RemotePasses {
  forward(rows: readonly Row[]): Promise<readonly Float32Array[]>;
  backward(rows: readonly Row[], dlogp: readonly ArrayLike<number>[]): Promise<readonly Float32Array[]>;
}

/** Loss and metrics; its gradient is added on the server. */
export async function remotePolicyLoss(
  { config, maxCompletionLength }: { readonly config: RunConfig; readonly maxCompletionLength: number },
  plan: BatchPlan,
  generation: ScoredGeneration,
  micro: MicroBatch,
  { forward, backward }: RemotePasses,
): Promise<LossReport> {
  const rows = rowsOfGeneration(generation, plan.groupSize, micro.firstRow, micro.endRow);
  const numbers = rowsOf(micro);
  const columns = longestCompletion(generation, numbers);
  const given = lossInputs(generation, numbers, columns, config.mask_truncated_completions);
  const { advantages, mask, oldLogps, nameOf } = given;
  const normaliser = lossNormaliser(config, maxCompletionLength, plan, generation);
  const sampled = samplerLogps(generation, micro, columns);
  const corrects = config.vllm_importance_sampling_correction && sampled !== null;
  const masks = config.off_policy_mask_threshold !== null && sampled !== null;
  // With one pass over the batch the ratio is 1, whatever the log-probabilities are.
  const known = oldLogps !== null || corrects || masks ? padRows(await forward(rows), columns) : null;
  const ratios = corrects
    ? samplingRatios(oldLogps ?? known ?? sampled, sampled, mask, config.vllm_importance_sampling_clip_max)
    : null;
  const lossOf = (logps: Float32Array) => {
    // A sampled token's -logp is an unbiased estimate of the entropy of its distribution.
    const entropies = logps.map((logp) => -logp);
    const batch: PolicyBatch = {
      rows: rows.length,
      columns,
      logps,
      oldLogps,
      refLogps: null,
      advantages,
      mask,
      entropies,
      nameOf,
      ...(sampled !== null && { samplerLogps: sampled }),
      ...(ratios !== null && { samplingRatios: ratios.values }),
    };
    return policyLoss(batch, normaliser, config);
  };
  const { gradLogps } = lossOf(known ?? new Float32Array(rows.length * columns));
  const dlogp = rows.map(({ ids }, row) => gradLogps.subarray(row * columns, row * columns + ids.length));
  const logps = padRows(await backward(rows, dlogp), columns);
  const { loss, metrics, entropy } = lossOf(logps);
  const difference =
    sampled === null || micro.iteration > 0 ? {} : logpDifference(oldLogps ?? known ?? logps, sampled, mask);
  return { loss, metrics: { ...metrics, ...difference, ...ratios?.metrics }, entropy };
}

/** What the sampler gave each token, padded [R*T]; null: it gave none. */
function samplerLogps(
  { completions }: ScoredGeneration,
  { firstRow, endRow }: MicroBatch,
  columns: number,
): Float32Array | null {
  const rows = completions.slice(firstRow, endRow).map(({ logps }) => logps ?? null);
  const given = rows.flatMap((row) => (row === null ? [] : [Float32Array.from(row)]));
  return given.length === rows.length ? padRows(given, columns) : null;
}
