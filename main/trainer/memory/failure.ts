import { BraidError } from '../../errors.ts';
import type { Failure } from '../protocol/failure.ts';
import { asOutOfMemory, isOutOfMemory } from './within-memory.ts';

/** An error in the form sent across the process boundary. */
export function describeFailure(thrown: unknown): Failure {
  const error = isOutOfMemory(thrown) ? asOutOfMemory(thrown) : thrown;
  const known = error instanceof BraidError;
  return {
    code: known ? error.code : 'INTERNAL',
    message: error instanceof Error ? error.message : String(error),
    remedy: known ? (error.remedy ?? null) : null,
    input: known && error.kind === 'input',
  };
}
