/** Which Hub is asked, and with which token: the one kept by Braid, or what Hugging Face's own tools would use. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import type { Secrets } from '../workspace/secrets.ts';

export interface HubOptions {
  /** Another Hub; `HF_ENDPOINT` as in Hugging Face's own tools. */
  readonly hubUrl?: string | undefined;
  /** For models that require it. */
  readonly accessToken?: string | undefined;
  /** Where that is from, for messages. */
  readonly tokenSource?: TokenSource | undefined;
  /** Settings keep one that can't be decrypted here. */
  readonly hasLockedToken?: boolean | undefined;
}

/** Its name among the secrets. */
export const HUB_TOKEN = 'huggingface';

export type TokenSource = 'braid' | 'environment' | 'huggingface-cli';

/** The sources in words. */
export const TOKEN_FROM: Readonly<Record<TokenSource, string>> = {
  braid: 'the token kept in Settings',
  environment: 'the token in HF_TOKEN',
  'huggingface-cli': 'the token of `hf auth login`',
};

/** Where the token would come from; the page learns this, and never the token. */
export interface HubAccess {
  /** null: there is none. */
  readonly source: TokenSource | null;
  readonly isEncrypted: boolean;
}

/** What a download uses. */
export function hubOptions(
  secrets: Pick<Secrets, 'get'> & Partial<Pick<Secrets, 'isLocked'>>,
  env: NodeJS.ProcessEnv = process.env,
): HubOptions {
  const found = findToken(secrets, env);
  const hasLockedToken = found === null && secrets.isLocked?.(HUB_TOKEN);
  return {
    hubUrl: hubAddress('HF_ENDPOINT', env),
    accessToken: found?.token,
    tokenSource: found?.source,
    hasLockedToken,
  };
}

/** An address of the environment. One with a password is refused here: fetch would, in words that repeat the password. */
export function hubAddress(name: 'HF_ENDPOINT' | 'HF_DATASETS_SERVER', env: NodeJS.ProcessEnv): string | undefined {
  const given = env[name] || undefined;
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  // One that can't be read may have a password with a character that has to be escaped.
  if (url === null ? !given.includes('@') : url.username + url.password === '') return given;
  throw inputError(
    'HUB_ADDRESS',
    `Expected ${name} to be an address alone, got one with a user or password`,
    'Nothing was sent. Leave them out, and give a token in Settings or by HF_TOKEN.',
  );
}

/** The token's source, without the token. */
export function hubAccess(secrets: Pick<Secrets, 'get' | 'isEncrypted'>, env = process.env): HubAccess {
  return { source: findToken(secrets, env)?.source ?? null, isEncrypted: secrets.isEncrypted };
}

function findToken(secrets: Pick<Secrets, 'get'>, env: NodeJS.ProcessEnv) {
  const found: readonly (readonly [TokenSource, string | null | undefined])[] = [
    ['braid', secrets.get(HUB_TOKEN)],
    ['environment', env.HF_TOKEN],
    ['huggingface-cli', savedToken(env)],
  ];
  const [source, token] = found.find(([, value]) => value != null && value.trim() !== '') ?? [];
  return source === undefined || token == null ? null : { source, token: token.trim() };
}

/** What `hf auth login` has saved. */
function savedToken(env: NodeJS.ProcessEnv): string | null {
  const cache = env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const file = env.HF_TOKEN_PATH || join(env.HF_HOME || join(cache, 'huggingface'), 'token');
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
