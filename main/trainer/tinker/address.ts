/** Which addresses a remote engine may have: prompts, rewards' completions and a key travel there. */
import { type AddressWords, checkAddress } from '../../io/address.ts';

const WORDS: AddressWords = {
  code: 'BAD_ENGINE',
  insecureCode: 'ENGINE_NOT_SECURE',
  what: 'the key and every prompt',
  password: 'Give the key as the engine’s key.',
  plain: 'Use https or an SSH tunnel to this machine; plain http has to be allowed for the engine and confirmed.',
};

/** The address without a trailing slash or /api/v1; refused unless it is https, loopback, or plain http on purpose. */
export function engineAddress(text: string, allowPlain: boolean): string {
  const url = checkAddress(text, allowPlain, WORDS);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}
