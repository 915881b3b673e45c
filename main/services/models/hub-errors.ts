/** Errors of the Hub, with what to do. */
import { BraidError, inputError } from '../../errors.ts';
import { certificateFault } from '../../io/certificate.ts';
import { type HubOptions, TOKEN_FROM } from './hub-access.ts';

export interface HubModel {
  /** `owner/name`. */
  readonly repo: string;
  readonly revision: string;
}

const ELSEWHERE = 'download the model folder where the network allows it, copy it here, and import the folder.';

/** The status that the Hub answered a request of its client with; null: it failed otherwise. */
export function hubStatus(error: unknown): unknown {
  return error instanceof Error && 'statusCode' in error ? error.statusCode : null;
}

/** The error for the user; a BraidError is returned unchanged. `elsewhere`: the remedy when the Hub cannot be reached. */
export function hubError(
  error: unknown,
  { repo, revision }: HubModel,
  { hubUrl = 'https://huggingface.co', tokenSource, hasLockedToken = false }: Omit<HubOptions, 'accessToken'> = {},
  elsewhere = ELSEWHERE,
): unknown {
  if (error instanceof BraidError) return error;
  if (tokenSource !== undefined && isForeignToken(error))
    return inputError(
      'HUB_REFUSED',
      `${repo} was not asked for: ${TOKEN_FROM[tokenSource]} isn't one of the Hub, as these begin with hf_`,
      'Nothing was sent. Replace that token, or remove it: public models and datasets need none.',
    );
  const status = hubStatus(error);
  // A Hub answers 401 to a token that it doesn't know, even where a model needs none.
  if (status === 401 && tokenSource !== undefined)
    return inputError(
      'HUB_REFUSED',
      `${hubUrl} denied access to ${repo} (401) with ${TOKEN_FROM[tokenSource]}: it is no longer valid, or there is nothing of this name that it may read`,
      'Renew or remove that token (it is refused for public models, too), or check the name.',
    );
  if (status === 401 || status === 403)
    return inputError(
      'HUB_REFUSED',
      `${hubUrl} denied access to ${repo} (${status}): it is private, gated, or doesn't exist`,
      hasLockedToken
        ? "Accept its terms on its page, and give your token by HF_TOKEN or `hf auth login`: the desktop app has encrypted the one in Braid's settings, and only the app can read it. Or check the name."
        : 'Accept its terms on its page, and give your token in Settings, by HF_TOKEN or by `hf auth login`; or check the name.',
    );
  if (status === 404)
    return inputError(
      'HUB_UNKNOWN',
      `${hubUrl} doesn't have ${repo} (revision ${revision})`,
      'Check the name and the revision.',
    );
  if (typeof status === 'number')
    return new BraidError('HUB_FAILED', `${hubUrl} answered with ${status}`, {
      cause: error,
      remedy: 'Start the download again later: it resumes where it stopped.',
    });
  const refused = certificateFault(error);
  if (refused !== null)
    return new BraidError('HUB_CERTIFICATE', `The certificate of ${hubUrl} ${refused.why}`, {
      cause: error,
      remedy: refused.remedy,
    });
  const why = reasonOf(error);
  if (why === null) return error;
  return new BraidError('HUB_UNREACHABLE', `${hubUrl} can't be reached (${why})`, {
    cause: error,
    remedy: `Start it again once there is a network: it resumes where it stopped. Or: ${elsewhere}`,
  });
}

/** Whether the Hub library rejected the token by its form, which it reports by message only. */
function isForeignToken(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes('access token must start with');
}

/** The network's reason, which fetch hides in `cause`; null for an error of another kind. */
function reasonOf(error: unknown): string | null {
  // The Hub library reports a broken stream by message only.
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
