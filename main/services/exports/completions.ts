/** A run's kept completions as parquet, with the columns that TRL writes: step, prompt, completion, each reward, advantage. */
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { StoredSample } from '../../store/samples.ts';

/** The file; a component that did not apply is NaN. */
export function completionsParquet(samples: readonly StoredSample[], rewardNames: readonly string[]): Uint8Array {
  const column = <T>(name: string, type: 'INT32' | 'STRING' | 'DOUBLE', of: (sample: StoredSample) => T) => ({
    name,
    type,
    data: samples.map(of),
  });
  const buffer = parquetWriteBuffer({
    columnData: [
      column('step', 'INT32', ({ step }) => step),
      column('prompt', 'STRING', ({ prompt }) => prompt),
      column('completion', 'STRING', ({ completion }) => completion),
      ...rewardNames.map((name) => column(name, 'DOUBLE', ({ components }) => components[name] ?? Number.NaN)),
      column('advantage', 'DOUBLE', ({ advantage }) => advantage),
    ],
  });
  return new Uint8Array(buffer);
}
