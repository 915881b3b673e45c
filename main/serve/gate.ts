/** Admission: requests to this machine's own names, from our own page, with this start's token. Pure. */
import { isOwnHost, sameSecret } from '../io/own-host.ts';

export type Verdict = { readonly kind: 'in' } | { readonly kind: 'out'; readonly status: number; readonly why: string };

/** The parts of a request that decide. */
export interface Knock {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  /** Of the URL. */
  readonly token: string | null;
}

/**
 * The URL that a request asks for; null where it is not a path of this server. Never throws: this is reached before
 * anything is known about who asks, and `//`, `//[` or `http://[` are not URLs.
 */
export function parseTarget(target: string | undefined): URL | null {
  if (target === undefined || !target.startsWith('/') || target.startsWith('//')) return null;
  return URL.parse(target, 'http://127.0.0.1');
}

const out = (status: number, why: string): Verdict => ({ kind: 'out', status, why });

/** Another site's page can reach this port, but only with its own host name or origin: both are rejected. */
export function checkNames({ host, origin }: Knock, originNeeded: boolean): Verdict {
  if (!isOwnHost(host)) return out(403, `Expected the host 127.0.0.1 or localhost, got ${host}`);
  if (origin === undefined && !originNeeded) return { kind: 'in' };
  if (origin === `http://${host}`) return { kind: 'in' };
  return out(403, `Expected a page of http://${host}, got ${origin ?? 'a request without origin'}`);
}

/** A token in the URL or, later, in the cookie set by the first response. */
export function checkToken({ token, cookie }: Knock, expected: string, cookieName: string): Verdict {
  const given = token ?? readCookie(cookie, cookieName);
  if (given === null) return out(401, 'The token is missing');
  return sameSecret(given, expected) ? { kind: 'in' } : out(401, 'The token is from an earlier start');
}

function readCookie(header: string | undefined, name: string): string | null {
  const found = header?.split(';').find((part) => part.trim().startsWith(`${name}=`));
  return found?.slice(found.indexOf('=') + 1).trim() ?? null;
}
