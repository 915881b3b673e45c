import { basename } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { PromptTemplate } from '../../tasks/interleave/prompt.ts';
import type { DatasetFiles } from './files.ts';

/** What the history keeps of a dataset that was generated. */
export interface RecordedDataset {
  readonly files: DatasetFiles;
  readonly words: number;
  /** The records, or as much of them as their number. */
  readonly train: { readonly length: number };
  readonly test: { readonly length: number };
  readonly seed: number;
  readonly template: PromptTemplate;
}

/** Notes a generated dataset in the workspace's history; the same file again replaces its entry. Gives its id. */
export function recordDataset(store: Store, made: RecordedDataset): number {
  const { files, words, train, test, seed, template } = made;
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
    }),
  );
}
