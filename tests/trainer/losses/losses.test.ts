import { describe, expect, it } from 'vitest';
import { trainConfigSchema } from '../../../main/trainer/config/config.ts';
import { entropyMask } from '../../../main/trainer/losses/entropy-mask.ts';
import {
  type LossConfig,
  type LossNormaliser,
  type PolicyBatch,
  policyLoss,
} from '../../../main/trainer/losses/losses.ts';

const config: LossConfig = {
  loss_type: 'grpo',
  importance_sampling_level: 'token',
  epsilon: 0.2,
  epsilon_high: null,
  delta: null,
  beta: 0,
  use_bias_correction_kl: true,
  kl_clamp: null,
  sapo_temperature_pos: 1,
  sapo_temperature_neg: 1.05,
  vespo_k_pos: 2,
  vespo_lambda_pos: 3,
  vespo_k_neg: 3,
  vespo_lambda_neg: 2,
  off_policy_mask_threshold: null,
  top_entropy_quantile: 1,
  entropy_coef: 0,
};
const plain: LossNormaliser = {
  maxCompletionLength: 4,
  numItemsInBatch: 6,
  gradientAccumulationSteps: 1,
  stepsPerGeneration: 1,
};

/** One token with the given ratio and advantage. */
function oneToken(ratio: number, advantage: number, logp = -1): PolicyBatch {
  return {
    rows: 1,
    columns: 1,
    logps: [logp],
    oldLogps: [logp - Math.log(ratio)],
    refLogps: null,
    advantages: [advantage],
    mask: [1],
    entropies: [0.5],
  };
}

const single = (ratio: number, advantage: number, change: Partial<LossConfig> = {}) => {
  const { loss, gradLogps, metrics } = policyLoss(oneToken(ratio, advantage), plain, { ...config, ...change });
  return { loss, grad: gradLogps[0] ?? Number.NaN, metrics };
};

/** Two rows of three and two tokens; the last place is padding that nobody may read. */
function batch(): PolicyBatch {
  return {
    rows: 2,
    columns: 3,
    logps: [-0.5, -1, -2, -0.7, -0.3, Number.NaN],
    oldLogps: [-0.6, -0.7, -2.3, -0.7, -0.4, Number.NaN],
    refLogps: [-0.8, -1.1, -1.5, -0.6, -0.9, Number.NaN],
    advantages: [1.2, -0.8],
    mask: [1, 1, 1, 1, 1, 0],
    entropies: [0.9, 0.2, 1.4, 0.6, 0.1, Number.NaN],
  };
}

describe('policyLoss, one token', () => {
  it('is the ratio times the advantage within the clip range', () => {
    const { loss, grad } = single(1.1, 2);
    expect(loss).toBeCloseTo(-2.2, 6);
    expect(grad).toBeCloseTo(-2.2, 6);
  });

  it('stops at 1 + epsilon for a good token and at 1 − epsilon for a bad one, with no gradient beyond', () => {
    expect(single(1.5, 2).loss).toBeCloseTo(-2.4, 6);
    expect(single(1.5, 2).grad).toBeCloseTo(0, 12);
    expect(single(0.5, -2).loss).toBeCloseTo(1.6, 6);
    expect(single(0.5, -2).grad).toBeCloseTo(0, 12);
    // The pessimistic side stays open.
    expect(single(1.5, -2).loss).toBeCloseTo(3, 6);
    expect(single(1.5, -2).grad).toBeCloseTo(3, 6);
    expect(single(0.5, 2).grad).toBeCloseTo(-1, 6);
  });

  it('has its full gradient at a ratio of exactly 1, where both branches tie', () => {
    const onPolicy = policyLoss({ ...oneToken(1, 2), oldLogps: null }, plain, config);
    expect(onPolicy.loss).toBe(-2);
    expect(onPolicy.gradLogps[0]).toBe(-2);
  });

  it('takes epsilon_high above and delta as the cap of the open side', () => {
    expect(single(1.5, 2, { epsilon_high: 0.28 }).loss).toBeCloseTo(-2.56, 6);
    expect(single(5, -2, { delta: 3 }).loss).toBeCloseTo(6, 6);
    expect(single(5, -2, { delta: 3 }).grad).toBeCloseTo(0, 9);
    expect(single(2, -2, { delta: 3 }).grad).toBeCloseTo(4, 6);
  });

  it('cispo weights the log-probability by the stopped ratio, capped at epsilon_high itself', () => {
    const { loss, grad, metrics } = single(7, 2, { loss_type: 'cispo', epsilon_high: 5 });
    // −5·2·(−1) over the 6 tokens of the generation batch.
    expect(loss).toBeCloseTo(10 / 6, 6);
    expect(grad).toBeCloseTo(-10 / 6, 6);
    expect(metrics.cispo_clip_ratio).toBe(1);
    expect(metrics).not.toHaveProperty('clip_ratio/low_mean');
  });

  it('sapo gates smoothly with a temperature by the sign of the advantage', () => {
    const gate = (tau: number): number => 1 / (1 + Math.exp(-tau * 0.5));
    expect(single(1.5, 2, { loss_type: 'sapo' }).loss).toBeCloseTo(-8 * gate(1), 6);
    expect(single(1.5, -2, { loss_type: 'sapo' }).loss).toBeCloseTo((8 * gate(1.05)) / 1.05, 6);
    // On-policy the slope is that of grpo: 4·¼ = 1.
    expect(single(1, 2, { loss_type: 'sapo' }).grad).toBeCloseTo(-2, 6);
  });

  it('vespo weights the log-probability by a gamma weight of the sequence ratio, by the sign of the advantage', () => {
    const phi = (w: number, k: number, lambda: number): number => w ** k * Math.exp(lambda * (1 - w));
    const good = single(1.5, 2, { loss_type: 'vespo' });
    // −φ·2·(−1) over the 6 tokens of the generation batch.
    expect(good.loss).toBeCloseTo((2 * phi(1.5, 2, 3)) / 6, 6);
    expect(good.grad).toBeCloseTo((-2 * phi(1.5, 2, 3)) / 6, 6);
    expect(good.metrics['vespo/phi_seq_mean']).toBeCloseTo(phi(1.5, 2, 3), 6);
    expect(good.metrics).not.toHaveProperty('clip_ratio/low_mean');
    expect(single(0.4, -2, { loss_type: 'vespo' }).loss).toBeCloseTo((-2 * phi(0.4, 3, 2)) / 6, 6);
    // On-policy it is dapo's gradient.
    expect(single(1, 2, { loss_type: 'vespo' }).grad).toBeCloseTo(-2 / 6, 6);
  });

  it('drops a bad completion that the policy has left behind, and never a good one', () => {
    const masked = { off_policy_mask_threshold: 0.5 };
    expect(single(0.5, -2, masked)).toMatchObject({ loss: 0, grad: 0 });
    expect(single(0.7, -2, masked).loss).toBe(single(0.7, -2).loss);
    expect(single(1.9, -2, masked).loss).toBe(single(1.9, -2).loss);
    expect(single(0.5, 2, masked).loss).toBe(single(0.5, 2).loss);
  });

  it('compares with what sampled, where that is another program than the trainer', () => {
    const masked = { ...config, off_policy_mask_threshold: 0.5 };
    const lossOf = (samplerLogp: number, advantage: number, oldLogps: number[] | null = null) =>
      policyLoss({ ...oneToken(1, advantage), oldLogps, samplerLogps: [samplerLogp] }, plain, masked).loss;
    // The policy gives −1: on-policy for the trainer, not for what sampled.
    expect(lossOf(-0.4, -2)).toBe(0);
    expect(lossOf(-0.6, -2)).toBe(2);
    expect(lossOf(-0.4, 2)).toBe(-2);
    expect(lossOf(-1, -2, [-1 - Math.log(0.5)])).toBeCloseTo(1.6, 6);
    expect(policyLoss({ ...oneToken(1, -2), samplerLogps: [-0.4] }, plain, config).loss).toBe(2);
  });

  it('multiplies the policy term by the sampling correction; vespo takes it into the sequence ratio', () => {
    const corrected = (loss_type: LossConfig['loss_type'], ratio: number, correction: number) =>
      policyLoss({ ...oneToken(ratio, 2), samplingRatios: [correction] }, plain, { ...config, loss_type });
    expect(corrected('grpo', 1.1, 0.5).loss).toBeCloseTo(-1.1, 6);
    const phi = (w: number): number => w ** 2 * Math.exp(3 * (1 - w));
    const vespo = corrected('vespo', 1.5, 0.8);
    expect(vespo.loss).toBeCloseTo((2 * phi(1.2)) / 6, 6);
    expect(vespo.gradLogps[0]).toBeCloseTo((-2 * phi(1.2)) / 6, 6);
    expect(vespo.metrics['vespo/phi_seq_mean']).toBeCloseTo(phi(1.2), 6);
    // Each token's log is bounded, as that of a ratio of 0 is.
    expect(corrected('vespo', 1e8, 0).metrics['vespo/phi_seq_mean']).toBeCloseTo(phi(1), 6);
  });

  it('adds beta times k3, weighted by the ratio when bias-corrected, and clamped when asked to', () => {
    const withRef = (d: number, change: Partial<LossConfig>) =>
      policyLoss({ ...oneToken(1.1, 0), refLogps: [-1 + d] }, plain, { ...config, beta: 0.1, ...change });
    const k3 = Math.exp(0.5) - 0.5 - 1;
    expect(withRef(0.5, { use_bias_correction_kl: false }).metrics.kl).toBeCloseTo(k3, 9);
    expect(withRef(0.5, { use_bias_correction_kl: false }).loss).toBeCloseTo(0.1 * k3, 9);
    expect(withRef(0.5, {}).metrics.kl).toBeCloseTo(1.1 * k3, 9);
    const clamped = withRef(40, { kl_clamp: 2, use_bias_correction_kl: false });
    expect(clamped.metrics.kl).toBeCloseTo(Math.exp(2) - 3, 9);
    expect(clamped.gradLogps[0]).toBeCloseTo(0, 9);
  });
});

describe('policyLoss, normalisation', () => {
  // On-policy with every ratio 1: per-token losses are −A, so Σ m·l = 3·(−1.2) + 2·0.8 = −2.
  const onPolicy = { ...batch(), oldLogps: null };
  const accumulated = { ...plain, gradientAccumulationSteps: 2, stepsPerGeneration: 4, numItemsInBatch: 20 };
  it.each([
    ['grpo', (-1.2 + 0.8) / 2 / 2],
    ['bnpo', -2 / 5 / 2],
    ['dr_grpo', -2 / (2 * 4) / 2],
    ['dapo', -2 / ((20 * 2) / 4)],
    ['luspo', -2 / 2 / 2],
    ['sapo', ((-4 * 0.5 * 1.2) / 1 + (4 * 0.5 * 0.8) / 1.05) / 2 / 2],
  ] as const)('%s', (loss_type, expected) => {
    expect(policyLoss(onPolicy, accumulated, { ...config, loss_type }).loss).toBeCloseTo(expected, 6);
  });

  it('leaves a row without tokens out of everything but the number of rows', () => {
    const masked = { ...onPolicy, mask: [1, 1, 1, 0, 0, 0] };
    const { loss, gradLogps, metrics } = policyLoss(masked, plain, config);
    expect(loss).toBeCloseTo(-0.6, 6);
    expect([...gradLogps.slice(3)]).toEqual([0, 0, 0]);
    expect(metrics['clip_ratio/low_min']).toBe(0);
  });

  it('gives a loss of 0 when everything is masked, and no entropy or KL, which nothing was measured of', () => {
    const masked = { ...onPolicy, mask: [0, 0, 0, 0, 0, 0] };
    const { loss, metrics } = policyLoss(masked, plain, { ...config, beta: 0.1 });
    expect(loss).toBe(0);
    expect(metrics.entropy).toBeNaN();
    expect(metrics.kl).toBeNaN();
    expect(metrics['clip_ratio/low_min']).toBeNaN();
  });
});

describe('policyLoss, metrics', () => {
  it('counts clipped tokens by side, and their extremes over rows', () => {
    // Row 0 (A > 0): ratios e^0.1, e^-0.3, e^0.3 → one above 1.2. Row 1 (A < 0): 1 and e^0.1 → none below 0.8.
    const { metrics } = policyLoss(batch(), plain, config);
    expect(metrics['clip_ratio/high_mean']).toBeCloseTo(1 / 5, 12);
    expect(metrics['clip_ratio/high_max']).toBeCloseTo(1 / 3, 12);
    expect(metrics['clip_ratio/low_mean']).toBe(0);
    expect(metrics['clip_ratio/low_min']).toBe(0);
    expect(metrics['clip_ratio/region_mean']).toBeCloseTo(1 / 5, 12);
    expect(metrics.entropy).toBeCloseTo(3.2 / 5, 12);
    expect(metrics).not.toHaveProperty('kl');
  });

  it('does not count a ratio that is exactly at its bound, be it by the cap of delta', () => {
    const onPolicy = { ...oneToken(1, 1), oldLogps: null };
    const cispo = policyLoss(onPolicy, plain, { ...config, loss_type: 'cispo', epsilon_high: 1 });
    expect(cispo.metrics.cispo_clip_ratio).toBe(0);
    // TRL counts after the cap: with delta at 1 + epsilon_high nothing is ever above.
    expect(single(3, 1, { delta: 1.5, epsilon_high: 0.5 }).metrics['clip_ratio/high_mean']).toBe(0);
    expect(single(3, 1, { delta: 1.6, epsilon_high: 0.5 }).metrics['clip_ratio/high_mean']).toBe(1);
  });

  it('takes one ratio a sequence at sequence level', () => {
    const { loss, metrics } = policyLoss(batch(), plain, { ...config, importance_sampling_level: 'sequence' });
    const ratios = [Math.exp(0.1 / 3), Math.exp(0.1 / 2)];
    expect(loss).toBeCloseTo((-1.2 * (ratios[0] ?? 0) + 0.8 * (ratios[1] ?? 0)) / 2, 9);
    expect(metrics['clip_ratio/region_mean']).toBe(0);
  });

  it('sums the entropy of the tokens that keep their policy term', () => {
    expect(policyLoss(batch(), plain, config).entropy.tokens).toBe(5);
    expect(policyLoss(batch(), plain, config).entropy.sum).toBeCloseTo(3.2, 9);
    const few = policyLoss(batch(), plain, { ...config, top_entropy_quantile: 0.3 }).entropy;
    expect(few.tokens).toBeLessThan(3);
    expect(few.sum / few.tokens).toBeGreaterThan(3.2 / 5);
  });

  it('subtracts the mean entropy times its coefficient and keeps the policy loss apart', () => {
    const accumulated = { ...plain, gradientAccumulationSteps: 2 };
    const without = policyLoss(batch(), accumulated, config);
    const { loss, gradEntropies, metrics } = policyLoss(batch(), accumulated, { ...config, entropy_coef: 0.1 });
    expect(loss).toBeCloseTo(without.loss - (0.1 * 3.2) / 5 / 2, 9);
    expect(gradEntropies?.[0]).toBeCloseTo(-0.01, 9);
    expect(gradEntropies?.[5]).toBe(0);
    expect(metrics.policy_loss).toBeCloseTo(2 * without.loss, 9);
    expect(metrics.entropy_coef).toBe(0.1);
  });
});

describe('policyLoss, gradients', () => {
  const types = trainConfigSchema.shape.loss_type.unwrap().options;
  const stopsRatio: readonly string[] = ['cispo', 'vespo'];
  const variants: readonly Partial<LossConfig>[] = [
    {},
    { importance_sampling_level: 'sequence' },
    { beta: 0.3 },
    { beta: 0.3, importance_sampling_level: 'sequence' },
    { beta: 0.3, use_bias_correction_kl: false, kl_clamp: 0.45 },
    { beta: 0.3, kl_clamp: 0.45 },
    { beta: 0.3, kl_clamp: 0.45, importance_sampling_level: 'sequence' },
    { top_entropy_quantile: 0.5, beta: 0.1 },
    { delta: 1.05, epsilon_high: 5 },
    { off_policy_mask_threshold: 0.01, beta: 0.1 },
    { entropy_coef: 0.2, top_entropy_quantile: 0.7 },
  ];
  for (const loss_type of types) {
    it.each(variants.map((variant) => [JSON.stringify(variant), variant] as const))(
      `${loss_type} %s equal finite differences`,
      (_, variant) => {
        const changed = { ...config, loss_type, ...variant };
        const base = batch();
        const { gradLogps, gradEntropies } = policyLoss(base, plain, changed);
        const h = 1e-6;
        const moved = (values: ArrayLike<number> | null, i: number, by: number): number[] =>
          Array.from(values ?? [], (value, at) => (at === i ? value + by : value));
        const lossAt = (i: number, by: number, held: boolean, part: LossConfig): number => {
          const oldLogps = held ? moved(base.oldLogps, i, by) : base.oldLogps;
          return policyLoss({ ...base, logps: moved(base.logps, i, by), oldLogps }, plain, part).loss;
        };
        const slope = (i: number, held: boolean, part: LossConfig): number =>
          (lossAt(i, h, held, part) - lossAt(i, -h, held, part)) / (2 * h);
        const withoutKl = { ...changed, beta: 0 };
        for (let i = 0; i < 5; i++) {
          // cispo and vespo stop their ratio, the KL term does not: the ratio is held, by moving old with logp, for the first only.
          const numeric = stopsRatio.includes(loss_type)
            ? slope(i, true, withoutKl) + slope(i, false, changed) - slope(i, false, withoutKl)
            : slope(i, false, changed);
          expect(gradLogps[i]).toBeCloseTo(numeric, 5);
        }
        expect(gradLogps[5]).toBe(0);
        expect(gradEntropies === null).toBe(variant.entropy_coef === undefined);
      },
    );
  }
});

describe('policyLoss, where a bound holds', () => {
  /** The KL term alone of one token that the reference gives e^d times the policy's probability. */
  const klOf = (d: number, change: Partial<LossConfig>, oldLogp: number | null = null) =>
    policyLoss(
      {
        rows: 1,
        columns: 1,
        advantages: [0],
        mask: [1],
        entropies: [1],
        logps: [-13],
        refLogps: [-13 + d],
        oldLogps: oldLogp === null ? null : [oldLogp],
      },
      { ...plain, numItemsInBatch: 1 },
      { ...config, loss_type: 'dapo', beta: 1, ...change },
    );

  it.each([
    ...([null, -13, -12, -14] as const).flatMap((oldLogp) =>
      (['token', 'sequence'] as const).flatMap((importance_sampling_level) =>
        [true, false].map((use_bias_correction_kl) => ({
          oldLogp,
          importance_sampling_level,
          use_bias_correction_kl,
        })),
      ),
    ),
  ])('never pushes the policy away from the reference: %j', ({ oldLogp, ...change }) => {
    for (const kl_clamp of [null, 0.5, 10]) {
      for (const d of [0.1, 0.7, 9, 12, 40])
        expect(klOf(d, { ...change, kl_clamp }, oldLogp).gradLogps[0]).toBeLessThanOrEqual(0);
      for (const d of [-0.1, -0.7, -9, -12])
        expect(klOf(d, { ...change, kl_clamp }, oldLogp).gradLogps[0]).toBeGreaterThanOrEqual(0);
    }
  });

  it('keeps the pull of the corrected KL where its two parts are too large to be subtracted', () => {
    expect(klOf(12, {}).gradLogps[0]).toBe(-12);
    expect(klOf(60, {}).gradLogps[0]).toBe(-60);
    expect(klOf(60, { importance_sampling_level: 'sequence' }).gradLogps[0]).toBe(-60);
  });

  it('names the completion whose KL is beyond float32, and the clamp that bounds it', () => {
    for (const use_bias_correction_kl of [true, false])
      for (const d of [89, 720]) {
        const asked = () => klOf(d, { use_bias_correction_kl });
        expect(asked).toThrow(`The KL term of token 1 of row 1 of the micro-batch is beyond float32`);
        expect(asked).toThrow(expect.objectContaining({ remedy: expect.stringContaining('kl_clamp 10') }));
        expect(klOf(d, { use_bias_correction_kl, kl_clamp: 10 }).loss).toBeCloseTo(Math.exp(10) - 11, 6);
      }
  });

  it.each(['grpo', 'dapo', 'cispo', 'sapo', 'vespo'] as const)(
    '%s has no gradient by a ratio beyond any number where it is clipped',
    (loss_type) => {
      const { gradLogps } = policyLoss({ ...oneToken(1, 2), oldLogps: [-800] }, plain, { ...config, loss_type });
      expect(Number.isFinite(gradLogps[0])).toBe(true);
    },
  );

  it('refuses a ratio that leaves float32 on the open side, and takes it with delta', () => {
    const apart = { ...oneToken(1, -2), oldLogps: [-120], nameOf: () => 'completion 3 of record a' };
    expect(() => policyLoss(apart, plain, config)).toThrow("The policy's ratio at token 1 of completion 3 of record a");
    expect(policyLoss(apart, plain, { ...config, delta: 10 }).loss).toBeCloseTo(20, 9);
  });

  it('refuses an entropy bonus that float32 cannot hold', () => {
    expect(() => policyLoss(oneToken(1, 1), plain, { ...config, entropy_coef: 1e300 })).toThrow('The entropy bonus');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses a log-probability of %s, also with an advantage of 0 and on-policy',
    (logp) => {
      const bad = { ...oneToken(1, 0), logps: [logp], oldLogps: null };
      expect(() => policyLoss(bad, plain, config)).toThrow('The model gives token 1 of row 1');
    },
  );
});

describe('policyLoss, bad input', () => {
  it('names the matrix whose size is wrong and a missing reference', () => {
    expect(() => policyLoss({ ...batch(), mask: [1] }, plain, config)).toThrow('Expected mask [2, 3], got 1 values');
    expect(() => policyLoss({ ...batch(), advantages: [1] }, plain, config)).toThrow('Expected 2 advantages, got 1');
    expect(() => policyLoss({ ...batch(), refLogps: null }, plain, { ...config, beta: 0.1 })).toThrow(
      'Expected reference log-probabilities because beta is 0.1, got none',
    );
  });
});

describe('entropyMask', () => {
  it('keeps tokens at or above the interpolated quantile of unmasked entropies', () => {
    // Unmasked, sorted: 1 2 3 4 5. Quantile 0.5 = 3, quantile 0.6 = 3.4.
    const entropies = [5, 1, 3, 9, 4, 2];
    const mask = [1, 1, 1, 0, 1, 1];
    expect([...entropyMask(entropies, mask, 0.5)]).toEqual([1, 0, 1, 0, 1, 0]);
    expect([...entropyMask(entropies, mask, 0.6)]).toEqual([1, 0, 0, 0, 1, 0]);
  });

  it('keeps nothing where everything is masked', () => {
    expect([...entropyMask([1, 2], [0, 0], 0.5)]).toEqual([0, 0]);
  });
});
