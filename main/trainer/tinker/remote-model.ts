/** A model on the server: its requests in order, each with its number. */
import type { z } from 'zod';
import { hash32, hashString } from '../../random.ts';
import type { Called, TinkerClient } from './client.ts';
import { otherProtocol } from './errors.ts';
import { anySchema, createdSchema, modelSchema } from './wire.ts';

export interface RemoteModel {
  readonly id: string;
  /** A request to this model, with the next number. */
  call<T>(route: string, body: object, schema: z.ZodType<T>): Promise<Called<T>>;
  unload(): Promise<void>;
}

export interface AdapterRequest {
  readonly baseModel: string;
  readonly rank: number;
  readonly seed: number;
}

/** Creates a model with a new adapter. */
export async function createModel(
  client: TinkerClient,
  session: string,
  { baseModel, rank, seed }: AdapterRequest,
): Promise<RemoteModel> {
  const { accepted, value } = await client.callFor(
    'create_model',
    {
      session_id: session,
      base_model: baseModel,
      lora_config: { rank, seed: positiveInt(seed) },
      type: 'create_model',
    },
    createdSchema,
    modelSchema,
  );
  const id = value.model_id ?? accepted.model_id;
  if (id === undefined) throw otherProtocol('create_model', 'no "model_id"');
  let number = 0;
  return {
    id,
    call: (route, body, schema) => client.call(route, { model_id: id, seq_id: ++number, ...body }, schema),
    unload: async () => void (await client.call('unload_model', { model_id: id, type: 'unload_model' }, anySchema)),
  };
}

/** A seed as servers take them: 31 bits. */
export function positiveInt(...coordinates: readonly number[]): number {
  return hash32(SEED_STREAM, ...coordinates) >>> 1;
}

const SEED_STREAM = hashString('remote engine');
