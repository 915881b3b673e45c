import { BraidError } from '../errors.ts';
import type { Failure } from './events.ts';

/** An error as it crosses the process border. */
export function describeFailure(error: unknown): Failure {
  const known = error instanceof BraidError;
  return {
    code: known ? error.code : 'INTERNAL',
    message: error instanceof Error ? error.message : String(error),
    remedy: known ? (error.remedy ?? null) : null,
    input: known && error.kind === 'input',
  };
}
