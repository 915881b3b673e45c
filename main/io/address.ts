/** Addresses that a user's texts and keys may be sent to: https, this machine, or plain http on purpose. */
import { type BraidError, inputError } from '../errors.ts';

/** The errors of one kind of address. */
export interface AddressWords {
  /** Of what is not an address. */
  readonly code: string;
  /** Of an address that others could listen to. */
  readonly insecureCode: string;
  /** What travels there: `the key and every prompt`. */
  readonly what: string;
  /** How a password in the address is given instead. */
  readonly password: string;
  /** How plain http is allowed. */
  readonly plain: string;
}

/** A checked address; refused unless it is https, loopback, or plain http on purpose. */
export function checkAddress(text: string, allowPlain: boolean, words: AddressWords): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw inputError(words.code, `Expected an address such as https://host:8000, got "${text}"`);
  if (url.username !== '' || url.password !== '')
    throw inputError(words.code, 'Expected an address without a password in it', words.password);
  if (isPlain(url) && !allowPlain) throw insecure(url, words);
  return url;
}

/** Whether what is sent to an address could be read on the way. */
export function isPlain({ protocol, hostname }: URL): boolean {
  return protocol !== 'https:' && !isLoopback(hostname);
}

/** Whether a host name is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function insecure({ origin }: URL, { insecureCode, what, plain }: AddressWords): BraidError {
  return inputError(
    insecureCode,
    `${origin} is plain http on another machine: ${what} would be readable on the way`,
    plain,
  );
}
