/** What every backend's kernel 'AdamW' is given besides param, m, v and grad; named as in torch.optim.AdamW. */
export interface AdamWAttrs {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Counts from 1. */
  readonly step: number;
  /** Multiplies the gradient first: the factor that clips its norm. */
  readonly gradScale: number;
}
