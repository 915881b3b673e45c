import type { TrainConfig } from '../config/config.ts';

export type ClipConfig = Pick<TrainConfig, 'loss_type' | 'epsilon' | 'epsilon_high' | 'delta'>;

/** Counts clipped ratios as TRL reports them: over tokens (or sequences), and the extremes over rows. */
export class ClipCounts {
  readonly #config: ClipConfig;
  readonly #sequence: boolean;
  #items = 0;
  #low = 0;
  #high = 0;
  #rowLow = 0;
  #rowHigh = 0;
  #lowMin = Number.NaN;
  #highMax = Number.NaN;

  constructor(config: ClipConfig, sequence: boolean) {
    this.#config = config;
    this.#sequence = sequence;
  }

  openRow(): void {
    this.#rowLow = 0;
    this.#rowHigh = 0;
  }

  /** One ratio. TRL compares it after the cap by `delta`. */
  add(ratio: number, advantage: number): void {
    const { loss_type, epsilon, epsilon_high, delta } = this.#config;
    const capped = loss_type === 'cispo' || delta === null ? ratio : Math.min(ratio, delta);
    const high = epsilon_high ?? epsilon;
    this.#items++;
    if (capped < 1 - epsilon && advantage < 0) this.#rowLow++;
    if (capped > (loss_type === 'cispo' ? high : 1 + high) && advantage > 0) this.#rowHigh++;
  }

  closeRow(length: number): void {
    this.#low += this.#rowLow;
    this.#high += this.#rowHigh;
    const items = this.#sequence ? 1 : length;
    if (items === 0) return;
    // Math.min and Math.max would keep the NaN that stands for "no row yet".
    const low = this.#rowLow / items;
    const high = this.#rowHigh / items;
    if (!(this.#lowMin <= low)) this.#lowMin = low;
    if (!(this.#highMax >= high)) this.#highMax = high;
  }

  metrics(): Readonly<Record<string, number>> {
    const items = Math.max(this.#items, 1);
    switch (this.#config.loss_type) {
      // They don't clip.
      case 'sapo':
      case 'vespo':
        return {};
      case 'cispo':
        return { cispo_clip_ratio: this.#high / items };
      case 'grpo':
      case 'bnpo':
      case 'dr_grpo':
      case 'dapo':
      case 'luspo':
        return {
          'clip_ratio/low_mean': this.#low / items,
          'clip_ratio/low_min': this.#lowMin,
          'clip_ratio/high_mean': this.#high / items,
          'clip_ratio/high_max': this.#highMax,
          'clip_ratio/region_mean': (this.#low + this.#high) / items,
        };
    }
  }
}
