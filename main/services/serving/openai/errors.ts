/** Refusals in OpenAI's form. */
import type { BraidError } from '../../../errors.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  /** The field that is wrong. */
  readonly param: string | null;
  readonly code: string | null;
}

export function invalid(message: string, param: string | null = null, code: string | null = null): Refusal {
  return { status: 400, message, type: 'invalid_request_error', param, code };
}

export function refused(status: number, message: string, code: string | null = null): Refusal {
  return { status, message, type: 'invalid_request_error', param: null, code };
}

/** What the model's process says: the caller's fault, or not. */
export function refusalOf({ kind, code, message, remedy }: BraidError): Refusal {
  const said = remedy === undefined ? message : `${message}. ${remedy}`;
  if (kind === 'input') return invalid(said, null, code === 'CONTEXT_TOO_SHORT' ? 'context_length_exceeded' : null);
  return { status: 500, message: said, type: 'server_error', param: null, code: null };
}

export function errorBody({ message, type, param, code }: Refusal): object {
  return { error: { message, type, param, code } };
}
