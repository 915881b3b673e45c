/** The bodies of the Tinker protocol that are used here, as far as they are used. */
import { z } from 'zod';

/** Tokens as the protocol takes them. */
export interface WireTokens {
  readonly chunks: readonly [{ readonly type: 'encoded_text'; readonly tokens: readonly number[] }];
}

/** One sequence to read or train on: `target_tokens[i]` follows `model_input[0..i]`. */
export interface Datum {
  readonly model_input: WireTokens;
  readonly loss_fn_inputs: {
    readonly target_tokens: { readonly data: readonly number[] };
    readonly weights: { readonly data: readonly number[] };
  };
}

export function wireTokens(tokens: readonly number[]): WireTokens {
  return { chunks: [{ type: 'encoded_text', tokens }] };
}

/** `weights`: one for each completion token; prompt tokens have none. */
export function datum(promptIds: readonly number[], ids: readonly number[], weights: ArrayLike<number>): Datum {
  const all = [...promptIds, ...ids];
  const before = Array.from({ length: promptIds.length - 1 }, () => 0);
  return {
    model_input: wireTokens(all.slice(0, -1)),
    loss_fn_inputs: {
      target_tokens: { data: all.slice(1) },
      weights: { data: [...before, ...Array.from(weights).slice(0, ids.length)] },
    },
  };
}

/** Ids are numbers in some servers' answers and text in others'. */
const id = z.union([z.string().min(1), z.number()]).transform(String);

export const capabilitiesSchema = z.looseObject({
  supported_models: z.array(z.looseObject({ model_name: z.string().nullish() })),
});
export const sessionSchema = z.looseObject({ session_id: z.string().min(1) });
export const futureSchema = z.looseObject({ request_id: id });
/** `model_id` comes with the request in some servers and with its answer in others. */
export const createdSchema = z.looseObject({ request_id: id, model_id: z.string().min(1).optional() });
export const modelSchema = z.looseObject({ model_id: z.string().min(1).optional() });
export const sampledSchema = z.looseObject({
  sequences: z.array(
    z.looseObject({
      tokens: z.array(z.number()),
      logprobs: z.array(z.number().nullable()).nullish(),
      stop_reason: z.string(),
    }),
  ),
});
export const passSchema = z.looseObject({
  loss_fn_outputs: z.array(z.looseObject({ logprobs: z.looseObject({ data: z.array(z.number().nullable()) }) })),
});
export const steppedSchema = z.looseObject({ metrics: z.record(z.string(), z.number().nullable()).nullish() });
export const savedSchema = z.looseObject({ path: z.string().min(1) });
export const anySchema = z.unknown();
