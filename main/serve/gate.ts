/** Who is let in: requests to this machine's own names, from our own page, with the token of this start. Pure. */
import { createHash, timingSafeEqual } from 'node:crypto';

export type Verdict = { readonly kind: 'in' } | { readonly kind: 'out'; readonly status: number; readonly why: string };

/** What of a request decides. */
export interface Knock {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  /** Of the URL. */
  readonly token: string | null;
}

/** Any port: an SSH tunnel may end on another one than ours. */
const OWN_NAMES = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;

const out = (status: number, why: string): Verdict => ({ kind: 'out', status, why });

/** Another site's page can reach this port, but under its own name or with its own origin: both are refused. */
export function checkNames({ host, origin }: Knock, originNeeded: boolean): Verdict {
  if (host === undefined || !OWN_NAMES.test(host))
    return out(403, `Expected the host 127.0.0.1 or localhost, got ${host}`);
  if (origin === undefined && !originNeeded) return { kind: 'in' };
  if (origin === `http://${host}`) return { kind: 'in' };
  return out(403, `Expected a page of http://${host}, got ${origin ?? 'a request without origin'}`);
}

/** A token given in the URL or, later, in the cookie that answered it. */
export function checkToken({ token, cookie }: Knock, expected: string, cookieName: string): Verdict {
  const given = token ?? readCookie(cookie, cookieName);
  if (given === null) return out(401, 'Expected the token of this start, got none');
  return same(given, expected) ? { kind: 'in' } : out(401, 'Expected the token of this start, got another');
}

function readCookie(header: string | undefined, name: string): string | null {
  const found = header?.split(';').find((part) => part.trim().startsWith(`${name}=`));
  return found?.slice(found.indexOf('=') + 1).trim() ?? null;
}

/** In a time that doesn't tell how much of it was right. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
