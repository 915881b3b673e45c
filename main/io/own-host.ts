/** What servers on this machine check before anything else. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Any port: an SSH tunnel may end on another one than ours. */
const OWN_NAMES = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;

/** Whether a Host header is one of this machine's own names: another site's page sends its own. */
export function isOwnHost(host: string | undefined): host is string {
  return host !== undefined && OWN_NAMES.test(host);
}

/** Compares secrets in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
