/**
 * The policy losses of GRPO and its kin with their normalisation, KL and entropy terms: the formulas of TRL 1.13's
 * `GRPOTrainer._compute_loss`. Legend: B rows (completions), T completion tokens.
 *
 *   ratio   ρ = exp(logp − old), per token or one per sequence (GSPO)
 *   KL      k3 = e^d − d − 1 with d = ref − logp; × ρ when bias-corrected (ρ unclipped and differentiable)
 *   grpo, bnpo, dr_grpo, dapo   −min(min(ρ, delta)·A, clip(ρ, 1−ε, 1+ε_high)·A)
 *   cispo                       −stop(min(ρ, ε_high))·A·logp
 *   luspo                       as grpo, each row weighted by its length (Zheng et al. 2026, arXiv 2602.05261)
 *   sapo                        −4·σ(τ(ρ−1))/τ·A, τ by the sign of A
 *   vespo                       −stop(φ(w))·A·logp, φ(w) = w^k·e^(λ(1−w)), w = exp Σ_t (logp − old) of the row; k and λ
 *                               by the sign of A (arXiv 2602.10693)
 *
 * off_policy_mask_threshold drops the policy term of rows with A < 0 and mean(old − logp) above it (DeepSeek-V3.2,
 * arXiv 2512.02556, equation 9). Where another program sampled, its log-probabilities take the place of old there.
 *
 * The loss depends on the model through logp and entropy [B,T] only, so value and gradient are computed here in
 * closed form on the host, in float64, and enter the tape as one op (`grpoLoss`): it costs two small transfers
 * instead of about sixty tensor ops, and subgradients are torch's by construction (min splits a tie in half, clamp
 * passes the gradient on its closed range). Masked positions are never read, so their values can't turn the loss into
 * NaN; TRL multiplies by the mask. `kl_clamp` is ours. A number that float32 can't
 * hold ends the run (token-not-finite.ts).
 */
import { BraidError } from '../../errors.ts';
import { FLOAT32_RANGE, fitsFloat32 } from '../../float32.ts';
import type { TrainConfig } from '../config/config.ts';
import type { TokenSum } from './adaptive-entropy.ts';
import { ClipCounts } from './clip-counts.ts';
import { entropyMask } from './entropy-mask.ts';
import { klTerm, type Term } from './kl-term.ts';
import { diverged } from './not-finite.ts';
import { tokenNotFinite } from './token-not-finite.ts';

export type LossConfig = Pick<
  TrainConfig,
  | 'loss_type'
  | 'importance_sampling_level'
  | 'epsilon'
  | 'epsilon_high'
  | 'delta'
  | 'beta'
  | 'use_bias_correction_kl'
  | 'kl_clamp'
  | 'sapo_temperature_pos'
  | 'sapo_temperature_neg'
  | 'vespo_k_pos'
  | 'vespo_lambda_pos'
  | 'vespo_k_neg'
  | 'vespo_lambda_neg'
  | 'off_policy_mask_threshold'
  | 'top_entropy_quantile'
  | 'entropy_coef'
>;

/** Whether a row without an advantage has no gradient: KL and entropy have one whatever the advantage is. */
export function hasPolicyTermOnly({ beta, entropy_coef }: Pick<LossConfig, 'beta' | 'entropy_coef'>): boolean {
  return beta === 0 && entropy_coef === 0;
}

/** Normalisers of a micro-batch. */
export interface LossNormaliser {
  readonly maxCompletionLength: number;
  /** Mask tokens over the whole generation batch. */
  readonly numItemsInBatch: number;
  readonly gradientAccumulationSteps: number;
  readonly stepsPerGeneration: number;
}

/** One micro-batch on the host. Matrices are [B,T], row after row. */
export interface PolicyBatch {
  readonly rows: number;
  readonly columns: number;
  readonly logps: ArrayLike<number>;
  /** null: the policy that sampled is the current one (stop-gradient of `logps`). */
  readonly oldLogps: ArrayLike<number> | null;
  /** Needed when beta ≠ 0. */
  readonly refLogps: ArrayLike<number> | null;
  /** [B] */
  readonly advantages: ArrayLike<number>;
  /** 1 for completion tokens that count, 0 for padding and truncated completions. */
  readonly mask: ArrayLike<number>;
  readonly entropies: ArrayLike<number>;
  /** Under the program that sampled, where that is another than the trainer. */
  readonly samplerLogps?: ArrayLike<number>;
  /** What each token's policy term is multiplied by, without a gradient (sampling-correction.ts); with vespo, what w is. */
  readonly samplingRatios?: ArrayLike<number>;
  /** A row in messages. */
  readonly nameOf?: (row: number) => string;
}

/** Keys are TRL's metric names; NaN where TRL logs NaN (it excludes such values from averages). */
export type LossMetrics = Readonly<Record<string, number>>;

export interface PolicyLoss {
  readonly loss: number;
  /** ∂loss/∂logps [B,T] */
  readonly gradLogps: Float32Array;
  /** ∂loss/∂entropies [B,T]; null without an entropy bonus. */
  readonly gradEntropies: Float32Array | null;
  readonly metrics: LossMetrics;
  /** Of the tokens that keep their policy term. */
  readonly entropy: TokenSum;
}

/** Loss, gradients and metrics of one micro-batch (TRL 1.13 `_compute_loss`). */
export function policyLoss(batch: PolicyBatch, normaliser: LossNormaliser, config: LossConfig): PolicyLoss {
  const { rows, columns, logps, refLogps, mask, samplingRatios } = batch;
  checkBatch(batch, config);
  const lengths = maskedLengths(batch);
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  const chosen =
    config.top_entropy_quantile < 1 ? entropyMask(batch.entropies, mask, 1 - config.top_entropy_quantile) : null;
  const sequence = config.importance_sampling_level === 'sequence';
  const isVespo = config.loss_type === 'vespo';

  const gradLogps = new Float32Array(rows * columns);
  const clip = new ClipCounts(config, sequence);
  let loss = 0;
  let klSum = 0;
  let phiSum = 0;
  for (let b = 0; b < rows; b++) {
    const advantage = num(batch.advantages, b);
    const length = num(lengths, b);
    const weight = rowWeight(config.loss_type, rows, length, tokens, normaliser);
    const sequenceRatio = sequence ? Math.exp(meanLogRatio(batch, b, length)) : 1;
    // A sequence of one token has that token's ratio.
    const shared = sequence && length > 1;
    const isOn = isOnPolicy(batch, b, length, config.off_policy_mask_threshold);
    const phi = isVespo ? gammaWeight(sumLogRatio(batch, b), advantage, config) : Number.NaN;
    phiSum += phi;
    // Σ_t ∂loss/∂ρ of the row: with one ratio per sequence it flows back to each of its tokens.
    let gradSequenceRatio = 0;
    clip.openRow();
    for (let i = b * columns; i < (b + 1) * columns; i++) {
      if (num(mask, i) === 0) continue;
      const logp = num(logps, i);
      const ratio = sequence ? sequenceRatio : Math.exp(logRatio(batch, i));
      const policy = policyTerm({ ratio, phi }, logp, advantage, config);
      const correction = isVespo ? 1 : (samplingRatios?.[i] ?? 1);
      const kept = isOn && (chosen === null || chosen[i] === 1) ? correction : 0;
      let value = kept * policy.value;
      let gradLogp = kept * policy.gradLogp;
      let gradRatio = kept * policy.gradRatio;
      if (refLogps !== null && config.beta !== 0) {
        const kl = klTerm(num(refLogps, i) - logp, ratio, shared, config);
        klSum += kl.value;
        value += config.beta * kl.value;
        gradLogp += config.beta * kl.gradLogp;
        gradRatio += config.beta * kl.gradRatio;
      }
      loss += weight * value;
      if (shared) gradSequenceRatio += gradRatio;
      gradLogps[i] = weight * (shared ? gradLogp : gradLogp + through(gradRatio, ratio));
      if (!sequence) clip.add(ratio, advantage);
      if (!fitsFloat32(loss) || !Number.isFinite(logp + num(batch.entropies, i) + num(gradLogps, i)))
        throw tokenNotFinite(batch, { row: b, place: i, ratio }, config);
    }
    if (sequence) {
      clip.add(sequenceRatio, advantage);
      const share = (weight * through(gradSequenceRatio, sequenceRatio)) / Math.max(length, 1);
      for (let i = b * columns; i < (b + 1) * columns; i++) {
        if (num(mask, i) === 0) continue;
        gradLogps[i] = num(gradLogps, i) + share;
        if (!Number.isFinite(num(gradLogps, i)))
          throw tokenNotFinite(batch, { row: b, place: i, ratio: sequenceRatio }, config);
      }
    }
    clip.closeRow(length);
  }

  const entropy = trainedEntropy(batch, chosen);
  const bonus = entropyBonus(batch, chosen, entropy, config.entropy_coef, normaliser);
  const metrics: Record<string, number> = {};
  // Where no token counts there is none: a 0 would read as a policy that is certain.
  if (config.beta !== 0) metrics.kl = klSum / tokens;
  metrics.entropy = maskedSum(batch.entropies, mask) / tokens;
  Object.assign(metrics, clip.metrics());
  if (isVespo) metrics['vespo/phi_seq_mean'] = phiSum / rows;
  if (bonus !== null) {
    metrics.policy_loss = loss * undoAccumulation(config.loss_type, normaliser);
    metrics.entropy_coef = config.entropy_coef;
    loss += bonus.value;
    if (!fitsFloat32(loss))
      throw diverged(
        `The entropy bonus is beyond float32 (${FLOAT32_RANGE})`,
        'Lower entropy_coef, and start a new run.',
      );
  }
  return { loss, gradLogps, gradEntropies: bonus === null ? null : bonus.gradEntropies, metrics, entropy };
}

/** What the policy term needs of a row beside its advantage: the token's ratio (or the row's), and VESPO's weight. */
interface Weights {
  readonly ratio: number;
  readonly phi: number;
}

function policyTerm({ ratio, phi }: Weights, logp: number, advantage: number, config: LossConfig): Term {
  switch (config.loss_type) {
    case 'vespo':
      return { value: -phi * advantage * logp, gradRatio: 0, gradLogp: -phi * advantage };
    case 'cispo': {
      const weight = Math.min(ratio, config.epsilon_high ?? config.epsilon) * advantage;
      return { value: -weight * logp, gradRatio: 0, gradLogp: -weight };
    }
    case 'sapo': {
      const temperature = advantage > 0 ? config.sapo_temperature_pos : config.sapo_temperature_neg;
      const gate = 1 / (1 + Math.exp(-temperature * (ratio - 1)));
      return {
        value: ((-4 * gate) / temperature) * advantage,
        gradRatio: -4 * gate * (1 - gate) * advantage,
        gradLogp: 0,
      };
    }
    case 'grpo':
    case 'bnpo':
    case 'dr_grpo':
    case 'dapo':
    case 'luspo':
      return clippedTerm(ratio, advantage, config);
  }
}

/** −min(min(ρ, delta)·A, clip(ρ)·A) with torch's subgradients: ties are split in half, clamp passes on its closed range. */
function clippedTerm(ratio: number, advantage: number, config: LossConfig): Term {
  const low = 1 - config.epsilon;
  const high = 1 + (config.epsilon_high ?? config.epsilon);
  const cap = config.delta ?? Number.POSITIVE_INFINITY;
  const clipped = Math.min(Math.max(ratio, low), high);
  const unclippedValue = Math.min(ratio, cap) * advantage;
  const clippedValue = clipped * advantage;
  const unclippedGrad = ratio <= cap ? advantage : 0;
  const clippedGrad = clipped === ratio ? advantage : 0;
  const share = unclippedValue === clippedValue ? 0.5 : unclippedValue < clippedValue ? 1 : 0;
  return {
    value: -Math.min(unclippedValue, clippedValue),
    gradRatio: -(share * unclippedGrad + (1 - share) * clippedGrad),
    gradLogp: 0,
  };
}

const [LOWEST_LOG_WEIGHT, HIGHEST_LOG_WEIGHT] = [Math.log(1e-8), 20];

/** VESPO's φ(w) of a row, from log w. */
function gammaWeight(logW: number, advantage: number, config: LossConfig): number {
  const log = Math.min(Math.max(logW, LOWEST_LOG_WEIGHT), HIGHEST_LOG_WEIGHT);
  const k = advantage >= 0 ? config.vespo_k_pos : config.vespo_k_neg;
  const lambda = Math.max(advantage >= 0 ? config.vespo_lambda_pos : config.vespo_lambda_neg, 1e-4);
  const phi = Math.exp(lambda + k * log - lambda * Math.exp(log));
  return Number.isFinite(phi) ? phi : 0;
}

/** Whether a row keeps its policy term: always without a threshold, and with an advantage that isn't negative. */
function isOnPolicy(batch: PolicyBatch, row: number, length: number, threshold: number | null): boolean {
  if (threshold === null || num(batch.advantages, row) >= 0) return true;
  const sampled = { ...batch, oldLogps: batch.samplerLogps ?? batch.oldLogps };
  return -meanLogRatio(sampled, row, length) <= threshold;
}

/** A derivative by the ratio as one by its logarithm. Where a bound holds there is none, be the ratio beyond any number. */
function through(gradRatio: number, ratio: number): number {
  return gradRatio === 0 ? 0 : gradRatio * ratio;
}

/** The weight of every token of a row in the loss of the micro-batch. */
function rowWeight(
  lossType: LossConfig['loss_type'],
  rows: number,
  length: number,
  tokens: number,
  normaliser: LossNormaliser,
): number {
  const { gradientAccumulationSteps: accumulation, stepsPerGeneration } = normaliser;
  switch (lossType) {
    case 'grpo':
    case 'sapo':
      return 1 / (Math.max(length, 1) * rows * accumulation);
    case 'bnpo':
      return 1 / (Math.max(tokens, 1) * accumulation);
    case 'dr_grpo':
      return 1 / (rows * normaliser.maxCompletionLength * accumulation);
    case 'luspo':
      return 1 / (rows * accumulation);
    case 'dapo':
    case 'cispo':
    case 'vespo':
      return 1 / ((Math.max(normaliser.numItemsInBatch, 1) * accumulation) / stepsPerGeneration);
  }
}

/** TRL logs `policy_loss` before the division by the accumulation steps where that division stands alone. */
function undoAccumulation(lossType: LossConfig['loss_type'], normaliser: LossNormaliser): number {
  switch (lossType) {
    case 'grpo':
    case 'sapo':
    case 'bnpo':
    case 'dr_grpo':
    case 'luspo':
      return normaliser.gradientAccumulationSteps;
    case 'dapo':
    case 'cispo':
    case 'vespo':
      return 1;
  }
}

interface EntropyBonus {
  readonly value: number;
  readonly gradEntropies: Float32Array;
}

/** Whether a token is trained on: in the mask, and of high entropy where only such tokens count. */
function isTrained({ mask }: PolicyBatch, chosen: Uint8Array | null, i: number): boolean {
  return num(mask, i) !== 0 && (chosen === null || chosen[i] === 1);
}

function trainedEntropy(batch: PolicyBatch, chosen: Uint8Array | null): TokenSum {
  let [sum, tokens] = [0, 0];
  for (let i = 0; i < batch.rows * batch.columns; i++) {
    if (!isTrained(batch, chosen, i)) continue;
    tokens++;
    sum += num(batch.entropies, i);
  }
  return { sum, tokens };
}

/** −coefficient · mean entropy over the trained tokens, or null if the coefficient is 0. */
function entropyBonus(
  batch: PolicyBatch,
  chosen: Uint8Array | null,
  { sum, tokens }: TokenSum,
  coefficient: number,
  normaliser: LossNormaliser,
): EntropyBonus | null {
  if (coefficient === 0) return null;
  const weight = -coefficient / Math.max(tokens, 1) / normaliser.gradientAccumulationSteps;
  const gradEntropies = new Float32Array(batch.rows * batch.columns);
  for (let i = 0; i < gradEntropies.length; i++) if (isTrained(batch, chosen, i)) gradEntropies[i] = weight;
  return { value: weight * sum, gradEntropies };
}

function logRatio(batch: PolicyBatch, i: number): number {
  return batch.oldLogps === null ? 0 : num(batch.logps, i) - num(batch.oldLogps, i);
}

function meanLogRatio(batch: PolicyBatch, row: number, length: number): number {
  let sum = 0;
  for (let i = row * batch.columns; i < (row + 1) * batch.columns; i++) {
    if (num(batch.mask, i) !== 0) sum += logRatio(batch, i);
  }
  return sum / Math.max(length, 1);
}

/** Of a row, to what sampled it if its correction is given; each token's bounded as TRL does. */
function sumLogRatio(batch: PolicyBatch, row: number): number {
  let [sum, correction] = [0, 0];
  for (let i = row * batch.columns; i < (row + 1) * batch.columns; i++) {
    if (num(batch.mask, i) === 0) continue;
    sum += Math.min(Math.max(logRatio(batch, i), -20), 20);
    if (batch.samplingRatios !== undefined)
      correction += Math.min(Math.max(Math.log(num(batch.samplingRatios, i)), LOWEST_LOG_WEIGHT), HIGHEST_LOG_WEIGHT);
  }
  return sum + correction;
}

function maskedLengths(batch: PolicyBatch): readonly number[] {
  return Array.from({ length: batch.rows }, (_, b) => {
    let length = 0;
    for (let i = b * batch.columns; i < (b + 1) * batch.columns; i++) if (num(batch.mask, i) !== 0) length++;
    return length;
  });
}

function maskedSum(values: ArrayLike<number>, mask: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < mask.length; i++) if (num(mask, i) !== 0) sum += num(values, i);
  return sum;
}

function checkBatch(batch: PolicyBatch, config: LossConfig): void {
  const size = batch.rows * batch.columns;
  const matrices = {
    logps: batch.logps,
    oldLogps: batch.oldLogps,
    refLogps: batch.refLogps,
    samplerLogps: batch.samplerLogps ?? null,
    samplingRatios: batch.samplingRatios ?? null,
    mask: batch.mask,
    entropies: batch.entropies,
  };
  for (const [name, values] of Object.entries(matrices)) {
    if (values !== null && values.length !== size)
      throw new BraidError(
        'BAD_SHAPE',
        `Expected ${name} [${batch.rows}, ${batch.columns}], got ${values.length} values`,
      );
  }
  if (batch.advantages.length !== batch.rows)
    throw new BraidError('BAD_SHAPE', `Expected ${batch.rows} advantages, got ${batch.advantages.length}`);
  if (config.beta !== 0 && batch.refLogps === null)
    throw new BraidError(
      'NO_REFERENCE',
      `Expected reference log-probabilities because beta is ${config.beta}, got none`,
    );
}

function num(values: ArrayLike<number>, i: number): number {
  return values[i] ?? Number.NaN;
}
