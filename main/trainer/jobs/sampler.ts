import type { GenerateOptions } from '../../model/generate.ts';
import { openStops } from '../../model/stop-strings.ts';
import type { Tokenizer } from '../../model/tokenizer.ts';
import type { Engine } from '../engine/engine.ts';
import { sampleWithin } from '../memory/generate-within.ts';
import type { OpenPolicy } from '../memory/open-policy.ts';

/** A model as what is asked for completions; `onRow` is called with each token. */
export function sampler(
  {
    policy,
    activationMb,
    eosTokenIds,
    tokenizer,
  }: Pick<OpenPolicy, 'policy' | 'activationMb'> &
    Pick<GenerateOptions, 'eosTokenIds'> & { readonly tokenizer: Tokenizer },
  onRow?: GenerateOptions['onRow'],
): Pick<Engine, 'sample'> {
  const stops = openStops(tokenizer);
  const options = { eosTokenIds, ...(onRow && { onRow }), ...(stops && { stops }) };
  return {
    sample: async (prompts, sampling) => sampleWithin(policy, prompts, activationMb, { ...sampling, ...options }),
  };
}
