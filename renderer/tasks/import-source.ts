/** A file or a download that is being imported. */
export interface Source {
  readonly uploadId: number;
  /** As the user knows it. */
  readonly name: string;
}
