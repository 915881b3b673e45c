/** What stages of long texts have over their preset: docs/decisions.md, 18. */
import type { TrainConfig } from '../../trainer/config/config.ts';

/** What decides a stage's usual settings. */
export interface StageKind {
  /** A fragment's; null: of several lengths, or not known. */
  readonly words: number | null;
  readonly preset: string;
  readonly model: unknown;
}

/** Words from which on a text is long; at 50 the preset's rate does as well. */
const LONG = 100;

/**
 * Default fields over those of the preset. With the preset's rate the bundled model forgets how to copy long texts faster
 * than it learns; no other preset or model was measured.
 */
export function longTextFields({ words, preset, model }: StageKind): Partial<Pick<TrainConfig, 'learning_rate'>> {
  const isMeasured = preset === 'interleave-tiny' && model === 'tiny';
  return isMeasured && words !== null && words >= LONG ? { learning_rate: 7e-5 } : {};
}
