/** A file or a download that is being imported. */
export interface Source {
  readonly uploadId: number;
  /** As the user knows it. */
  readonly name: string;
  /** Of a dataset of the Hub; null: a file. */
  readonly hub: { readonly source: string; readonly split: string } | null;
}

/** File endings, as a file dialog takes them. */
export const RECORD_FILES = '.jsonl,.ndjson,.json,.csv,.tsv,.parquet,.gz,.zst';

/** Where the held-out records are from. */
export type HeldOutKind = 'part' | 'file' | 'split';

export interface HeldOutChoice {
  readonly kind: HeldOutKind;
  /** The file or the split's download; null: not chosen yet, or a part of the rows. */
  readonly upload: { readonly uploadId: number; readonly name: string } | null;
}
