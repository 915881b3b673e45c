/** Errors of a remote engine: what happened there, what is safe here, what to do. */
import { BraidError, inputError } from '../../errors.ts';
import type { CertificateFault } from '../../io/certificate.ts';

const RESUME = 'The history is safe. Resume the run: it continues from its last checkpoint.';

/** No answer at all, for as long as was waited. */
export function unreachable(url: string, why: string, cause: unknown): BraidError {
  return new BraidError('ENGINE_UNREACHABLE', `The engine at ${url} can't be reached (${why})`, {
    cause,
    remedy: `Check that the server runs and the address is right. ${RESUME}`,
  });
}

/** A request that may have been carried out: sending it again could do it twice. `status`: a gateway's answer. */
export function answerLost(what: string, cause: unknown, status: number | null = null): BraidError {
  const lost =
    status === null
      ? `The connection broke before the engine confirmed "${what}"`
      : `A gateway answered ${status} in place of the engine to "${what}"`;
  return new BraidError('ENGINE_ANSWER_LOST', `${lost}, so it may have been carried out; it wasn't sent again`, {
    cause,
    remedy: RESUME,
  });
}

/** The server's own words for a request that it couldn't carry out. */
export function failedThere(what: string, detail: string): BraidError {
  const said = `The engine couldn't carry out "${what}": ${detail.slice(0, 500)}`;
  if (/no space left|disk (is )?full|ENOSPC/i.test(detail))
    return new BraidError('ENGINE_DISK_FULL', `The disk of the engine is full. ${said}`, {
      remedy: `Free space there. ${RESUME}`,
    });
  if (/not loaded|stale|session (not found|expired)|model not found/i.test(detail))
    return new BraidError('ENGINE_SESSION_LOST', `The engine has ended this run's session. ${said}`, {
      remedy: RESUME,
    });
  return new BraidError('ENGINE_FAILED', said, { remedy: RESUME });
}

/** The server no longer knows a request or model: it was restarted. */
export function forgotten(what: string): BraidError {
  return new BraidError(
    'ENGINE_SESSION_LOST',
    `The engine no longer knows "${what}": its session has expired, or the server was restarted`,
    { remedy: RESUME },
  );
}

/** Nothing was sent to a server that can't prove who it is. */
export function certificateRefused(url: string, { why, remedy }: CertificateFault): BraidError {
  return inputError('ENGINE_CERTIFICATE', `The certificate of the engine at ${url} ${why}`, remedy);
}

/** A wrong or missing key. */
export function keyRefused(url: string, status: number): BraidError {
  return inputError(
    'ENGINE_KEY_REFUSED',
    `The engine at ${url} refused the key (${status})`,
    'Set its key in Settings, Engines.',
  );
}

/** A server that speaks another version of the protocol, or another protocol. */
export function otherProtocol(what: string, seen: string): BraidError {
  return inputError(
    'ENGINE_PROTOCOL',
    `The engine answered "${what}" in another form than the Tinker protocol's: ${seen.slice(0, 300)}`,
    'Check the address, and that the server is a version that docs/engines.md names.',
  );
}

/** An answer in the right form with content that can't be right. */
export function badAnswer(what: string, expected: string): BraidError {
  return new BraidError('ENGINE_BAD_ANSWER', `The engine's answer to "${what}" can't be used: expected ${expected}`, {
    remedy: `Nothing of this step was kept. ${RESUME} If it happens again, the server is at fault.`,
  });
}
