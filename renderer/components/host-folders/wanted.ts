/** What a path field is for. */
export interface Wanted {
  /** What is chosen; `any`: a file or a whole folder. */
  readonly what: 'folder' | 'file' | 'any';
  /** Files to list, by their endings. */
  readonly endings?: readonly string[];
  /** The file by which wanted folders are recognised, and what they are called: "model". */
  readonly sign?: { readonly file: 'config.json' | 'task.yaml'; readonly word: string };
}
