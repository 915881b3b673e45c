/** An error as sent across the process boundary. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
  /** Whether it was caused by the user's input. */
  readonly input: boolean;
}
