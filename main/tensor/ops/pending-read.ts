/** Reading a tensor from a backend that computes beside its caller, which asks for more work before it waits. */
import * as tf from '@tensorflow/tfjs-core';

/** A read that was started; the tensor may be freed. */
export interface PendingRead {
  /** Waits for the tensor's bytes, not for what was asked for since. */
  wait(): ArrayBuffer;
  /** In place of waiting; does nothing after it. */
  cancel(): void;
}

/** Null where nothing would be gained, as the backend computes while it is asked. */
type StartRead = (x: tf.Tensor) => PendingRead | null;

const starters = new Map<string, StartRead>();

/** Gives a backend reads that are waited for later. */
export function registerStartRead(backendName: string, start: StartRead): void {
  starters.set(backendName, start);
}

/** Starts to read on a backend that has such reads; null on others. */
export function startRead(x: tf.Tensor): PendingRead | null {
  return starters.get(tf.getBackend())?.(x) ?? null;
}
