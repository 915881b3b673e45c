/** What a change to the corpus means for the stages of the curriculum. */
import type { CorpusText } from '../texts/source-text.ts';
import { curriculumWords } from './supply.ts';

/** How many texts are long enough for a stage, before and after. */
export interface StageChange {
  readonly words: number;
  readonly before: number;
  readonly after: number;
}

/** Texts long enough for each stage of the curriculum, before and after. */
export function stageChanges(before: readonly CorpusText[], after: readonly CorpusText[]): StageChange[] {
  const serving = (texts: readonly CorpusText[], words: number) => texts.filter((text) => text.words >= words).length;
  return curriculumWords.map((words) => ({ words, before: serving(before, words), after: serving(after, words) }));
}
