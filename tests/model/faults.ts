/** What a fault says. */
import { BraidError } from '../../main/errors.ts';

/** The error that the call throws, as [code, message]; it must be an input error. */
export function fault(call: () => unknown): readonly [code: string, message: string] {
  try {
    call();
  } catch (error) {
    if (error instanceof BraidError && error.kind === 'input') return [error.code, error.message];
    throw error;
  }
  throw new Error('Expected a fault, got none');
}
