/** Which Hub is asked, and with which token: the one kept by Braid, or what Hugging Face's own tools would use. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
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
    hubUrl: env.HF_ENDPOINT || undefined,
    accessToken: found?.token,
    tokenSource: found?.source,
    hasLockedToken,
  };
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
