/** A remote engine as a run is given it. */

/** In the engine's currency, for a million tokens. */
export interface TokenPrices {
  /** Prompt tokens that are read for sampling or for log-probabilities. */
  readonly prefill: number;
  readonly sample: number;
  readonly train: number;
}

export interface RemoteEngine {
  readonly name: string;
  /** Address of the server, without /api/v1. */
  readonly url: string;
  /** The model's name there. */
  readonly baseModel: string;
  /** Sent as X-API-Key; null: none. */
  readonly key: string | null;
  /** Whether an address outside this machine may be http. */
  readonly allowPlain: boolean;
  readonly prices: TokenPrices | null;
}
