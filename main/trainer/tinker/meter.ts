/** What a remote engine's work took: tokens, bytes, and the time of a step by where it was spent. */

import type { TokenPrices } from '../protocol/remote.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { CallTimes } from './client.ts';
import type { Traffic } from './http.ts';

export interface TokenCounts {
  readonly prefill: number;
  readonly sample: number;
  readonly train: number;
}

export interface Meter {
  /** Runs work whose requests are under way together, and divides its time. */
  time<T>(work: () => Promise<{ readonly value: T; readonly times: readonly CallTimes[] }>): Promise<T>;
  count(tokens: Partial<TokenCounts>): void;
  /** The step's figures; resets those of a step. */
  take(): Metrics;
}

const KINDS = ['prefill', 'sample', 'train'] as const;

/** The price of so many tokens. */
export function costOf(tokens: TokenCounts, prices: TokenPrices): number {
  return KINDS.reduce((sum, kind) => sum + (tokens[kind] * prices[kind]) / 1e6, 0);
}

export function openMeter(traffic: Traffic, prices: TokenPrices | null): Meter {
  let seconds = { network: 0, queue: 0, compute: 0 };
  const none: TokenCounts = { prefill: 0, sample: 0, train: 0 };
  let tokens = none;
  let bytes = { ...traffic };
  return {
    time: async (work) => {
      const began = performance.now();
      const { value, times } = await work();
      const whole = (performance.now() - began) / 1000;
      // Requests run side by side: the slowest of them is what was waited for.
      const network = Math.min(whole, Math.max(0, ...times.map((one) => one.network)));
      const queue = Math.min(whole - network, Math.max(0, ...times.map((one) => one.queue)));
      seconds = {
        network: seconds.network + network,
        queue: seconds.queue + queue,
        compute: seconds.compute + whole - network - queue,
      };
      return value;
    },
    count: (more) => {
      tokens = {
        prefill: tokens.prefill + (more.prefill ?? 0),
        sample: tokens.sample + (more.sample ?? 0),
        train: tokens.train + (more.train ?? 0),
      };
    },
    take: () => {
      const metrics: Metrics = {
        'engine/network_seconds': seconds.network,
        'engine/queue_seconds': seconds.queue,
        'engine/compute_seconds': seconds.compute,
        'engine/sent_mb': (traffic.sentBytes - bytes.sentBytes) / 2 ** 20,
        'engine/received_mb': (traffic.receivedBytes - bytes.receivedBytes) / 2 ** 20,
        ...Object.fromEntries(KINDS.map((kind) => [`engine/${kind}_tokens`, tokens[kind]])),
        ...(prices !== null && { 'engine/cost': costOf(tokens, prices) }),
      };
      seconds = { network: 0, queue: 0, compute: 0 };
      tokens = none;
      bytes = { ...traffic };
      return metrics;
    },
  };
}
