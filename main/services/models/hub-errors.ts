/** What went wrong with the hub, in words that say what to do. */
import { BraidError, inputError } from '../../errors.ts';
import type { HubModel } from './hub.ts';

const ELSEWHERE = 'Download the model folder where the network allows it, copy it here, and import the folder.';

/** The error for a person; what is one already stays. */
export function hubError(error: unknown, { repo, revision }: HubModel, hubUrl = 'https://huggingface.co'): unknown {
  if (error instanceof BraidError) return error;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  if (status === 401 || status === 403)
    return inputError(
      'HUB_REFUSED',
      `${hubUrl} does not give ${repo} to this user (${status}): it is private, gated, or not there`,
      'Accept its terms on its page, then start Braid with HF_TOKEN set; or check the name.',
    );
  if (status === 404)
    return inputError(
      'HUB_UNKNOWN',
      `Expected ${hubUrl} to have ${repo} (revision ${revision}), but it does not know it`,
      'Check the name and the revision.',
    );
  if (typeof status === 'number')
    return new BraidError('HUB_FAILED', `${hubUrl} answered with ${status}`, {
      cause: error,
      remedy: 'Start the download again later: it goes on where it stood.',
    });
  const why = reasonOf(error);
  if (why === null) return error;
  return new BraidError('HUB_UNREACHABLE', `Expected to reach ${hubUrl}, but the network does not allow it (${why})`, {
    cause: error,
    remedy: `Start it again when there is a network: it goes on where it stood. Or: ${ELSEWHERE.charAt(0).toLowerCase()}${ELSEWHERE.slice(1)}`,
  });
}

/** The network's reason, which fetch hides in `cause`; null for an error of another kind. */
function reasonOf(error: unknown): string | null {
  // The hub's library ends a broken stream with its message alone.
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return null;
  const cause = error.cause;
  if (cause instanceof Error) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    return cause.message;
  }
  // What fetch throws and a stream that ends early are TypeErrors.
  return error instanceof TypeError ? error.message : null;
}
