import { endTokens, type Tokenizer } from '../../model/tokenizer.ts';
import type { Engine } from '../engine/engine.ts';
import { generateWithin } from '../memory/generate-within.ts';
import type { Policy } from '../policy/policy.ts';

/** A policy as what an evaluation asks for completions. */
export function sampler(
  policy: Policy,
  tokenizer: Pick<Tokenizer, 'eosTokenId'>,
  activationMb: number,
): Pick<Engine, 'sample'> {
  const eosTokenIds = endTokens(tokenizer, policy.model.config.eosTokenIds);
  return {
    sample: async (prompts, sampling) => generateWithin(policy, prompts, activationMb, { ...sampling, eosTokenIds }),
  };
}
