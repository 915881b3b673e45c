/**
 * A reference that follows the policy (TR-DPO, Gorbatovski et al. 2024, arXiv 2404.09656), with TRL's names: after every
 * `ref_model_sync_steps` steps, each weight of the reference becomes alpha * policy + (1 - alpha) * reference, alpha =
 * `ref_model_mixup_alpha`. Full fine-tuning only: mixing the factors of two adapters doesn't mix their products. One that
 * is copied where a warm-up ends may be an adapter.
 */
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../../errors.ts';
import { tensorPieces } from '../../model/export.ts';
import { adapterParameters } from '../../model/lora.ts';
import { trainableParameters } from '../../model/model.ts';
import type { Parameter } from '../../model/parameter.ts';
import { type NamedPieces, openSafetensors } from '../../model/safetensors.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Policy } from './policy.ts';

type SyncConfig = Pick<TrainConfig, 'sync_ref_model' | 'ref_model_sync_steps' | 'ref_model_mixup_alpha'>;

/** Whether the reference is mixed after this step (from 1). */
export function syncsAfter(step: number, { sync_ref_model, ref_model_sync_steps }: SyncConfig): boolean {
  return sync_ref_model && step % ref_model_sync_steps === 0;
}

/** What training changes of a policy, and so what its reference has of its own. */
function trainedParameters({ model, adapter }: Policy): readonly Parameter[] {
  return adapter === null ? trainableParameters(model) : adapterParameters(adapter);
}

/** Makes the reference what the policy is now: where a warm-up ends. */
export function rebaseReference(reference: Policy, policy: Policy): void {
  syncReference(reference, policy, 1);
}

/** Mixes the policy's weights into the reference's. */
export function syncReference(reference: Policy, policy: Policy, alpha: number): void {
  const source = new Map(trainedParameters(policy).map(({ name, value }) => [name, value]));
  for (const parameter of trainedParameters(reference)) {
    const value = source.get(parameter.name);
    if (value === undefined) throw new Error(`Expected the policy to have a weight "${parameter.name}", got none`);
    setValue(parameter, () => tf.add(tf.mul(value, alpha), tf.mul(parameter.value, 1 - alpha)));
  }
}

/** The contents of `REFERENCE_FILE`, each tensor read when its turn comes. */
export function referenceTensors(reference: Policy): readonly NamedPieces[] {
  return trainedParameters(reference).map(({ name, value }) => ({
    name,
    shape: value.shape,
    pieces: () => tensorPieces(value),
  }));
}

/** Restores the reference's weights from a checkpoint's file. */
export function restoreReference(reference: Policy, path: string, finite: boolean): void {
  const file = openSafetensors(path, { finite });
  try {
    const parameters = trainedParameters(reference);
    for (const { name, value } of parameters) checkShape(path, name, file.entries.get(name)?.shape, value.shape);
    for (const parameter of parameters)
      setValue(parameter, () => tf.tensor(file.read(parameter.name), parameter.value.shape, 'float32'));
  } finally {
    file.close();
  }
}

function setValue(parameter: Parameter, make: () => tf.Tensor): void {
  const made = tf.keep(tf.tidy(make));
  parameter.value.dispose();
  parameter.value = made;
}

function checkShape(path: string, name: string, found: readonly number[] | undefined, shape: readonly number[]): void {
  if (found?.join() === shape.join()) return;
  throw inputError(
    'BAD_CHECKPOINT',
    `${path}: expected "${name}" of [${shape.join(', ')}], got ${found === undefined ? 'none' : `[${found.join(', ')}]`}`,
    'Use another checkpoint of the run.',
  );
}
