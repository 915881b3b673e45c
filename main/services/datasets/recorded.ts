import { basename } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { PromptTemplate } from '../../tasks/interleave/prompt.ts';
import type { DatasetFiles } from './files.ts';
import type { TextOnSide } from './generate.ts';
import { countLeakage, type Leakage } from './leakage.ts';

/** The history's record of a generated dataset. */
export interface RecordedDataset {
  readonly files: DatasetFiles;
  /** null: of several lengths. */
  readonly words: number | null;
  /** The records, or just their number. */
  readonly train: { readonly length: number };
  readonly test: { readonly length: number };
  readonly seed: number;
  readonly template: PromptTemplate;
  /** null: not checked. */
  readonly leakage: Leakage | null;
}

/** Keeps the side of every text that has none yet, whether or not it is in the workspace's corpus. */
export function decideSides(store: Pick<Store, 'texts' | 'transaction'>, sides: readonly TextOnSide[]): void {
  store.transaction(() => {
    for (const { hash, side } of sides) store.texts.decideHash(hash, side);
  });
}

/** Records a generated dataset in the workspace's history; the same file again replaces its entry. Returns its id. */
export function recordDataset(store: Store, made: RecordedDataset): number {
  const { files, words, train, test, seed, template, leakage } = made;
  return store.transaction(() =>
    store.datasets.record({
      name: basename(files.train, '.jsonl'),
      file: files.train,
      task: 'interleave',
      words,
      trainN: train.length,
      testN: test.length,
      seed,
      template: `${template.name} v${template.version}`,
      textHash: null,
      leakage: leakage === null ? null : countLeakage(leakage),
    }),
  );
}
