/**
 * What every backend's kernel 'AdamW' is given besides param, m, v, grad and gradScale, []; named as in
 * torch.optim.AdamW. gradScale multiplies the gradient first: the factor that clips its norm.
 */
export interface AdamWAttrs {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Counts from 1. */
  readonly step: number;
}

/** In place of gradScale where a gradient isn't finite: the kernel changes nothing. */
export const LEAVE_UNCHANGED = -1;

/** A larger sum of squares counts as infinite: a GPU adds them in float32. */
export const MOST_SQUARES = 1e38;

/** Of 'ClippingFactor', which a backend has whose numbers aren't at hand: squares [n] → gradScale []. */
export interface ClippingFactorAttrs {
  /** 0: no clipping. */
  readonly maxNorm: number;
}
