/** Measures how a server applies weights (gradient-rule.ts), on a model that is unloaded again. */
import type { z } from 'zod';
import { type GradientRule, type RuleTrial, ruleOf, SUMMED, TRIAL_WEIGHT } from './gradient-rule.ts';
import type { RemoteModel } from './remote-model.ts';
import { datum, passSchema, steppedSchema } from './wire.ts';

/** Enough that no norm is rounding alone. */
const TOKENS = 6;

/** The rule, from gradient norms of steps with a learning rate of 0; the protocol's own where no norm is reported. */
export async function measureRule(model: RemoteModel, vocabSize: number): Promise<GradientRule> {
  const ids = Array.from({ length: TOKENS }, (_, i) => (i * 7 + 5) % vocabSize);
  const [first = 0, ...rest] = ids;
  const norm = async (sequences: number, weight: number): Promise<number> => {
    const data = Array.from({ length: sequences }, () =>
      datum(
        [first],
        rest,
        rest.map(() => weight),
      ),
    );
    await model.call('forward_backward', { forward_backward_input: { data, loss_fn: 'cross_entropy' } }, passSchema);
    return gradNormOf(await optimStep(model, { learning_rate: 0 })) ?? Number.NaN;
  };
  const one = await norm(1, 1);
  if (!(one > 0)) return SUMMED;
  const trial: RuleTrial = { one, two: await norm(2, 3), floor: null, tokens: rest.length };
  return ruleOf(trial) ?? ruleOf({ ...trial, floor: await norm(1, TRIAL_WEIGHT) }) ?? SUMMED;
}

export interface AdamRequest {
  readonly learning_rate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly eps?: number;
  readonly weight_decay?: number;
  readonly grad_clip_norm?: number;
}

/** One optimiser step there. */
export async function optimStep(model: RemoteModel, adam_params: AdamRequest): Promise<z.infer<typeof steppedSchema>> {
  const { value } = await model.call('optim_step', { adam_params }, steppedSchema);
  return value;
}

/** The gradient norm that a server reports, under whatever prefix; null: none. JSON has no NaN: it says null there. */
export function gradNormOf({ metrics }: z.infer<typeof steppedSchema>): number | null {
  const found = Object.entries(metrics ?? {}).find(([name]) => /(^|[/.:_])grad_norm(:|$)/.test(name));
  return found === undefined ? null : (found[1] ?? Number.NaN);
}
