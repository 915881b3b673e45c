/**
 * Keys and tokens of services elsewhere. They lie in the user's own configuration, never in a workspace, which may be
 * shared, and no answer to a page contains one. On the desktop the system's key store encrypts them; elsewhere the file
 * is readable by its owner only.
 */
import { join } from 'node:path';
import envPaths from 'env-paths';
import { z } from 'zod';
import { openUserFile } from './user-file.ts';

/** The system's key store; Electron's safeStorage is one. */
export interface Cipher {
  encrypt(text: string): Uint8Array;
  /** Throws what it can't decrypt. */
  decrypt(bytes: Uint8Array): string;
}

export interface Secrets {
  /** Whether the system's key store encrypts them. */
  readonly isEncrypted: boolean;
  /** null: none is kept, or it can't be decrypted (the file was made on another machine). */
  get(name: string): string | null;
  /** Whether there is one that can't be decrypted here, such as the desktop app's on the command line. */
  isLocked(name: string): boolean;
  /** null forgets it. */
  set(name: string, value: string | null): void;
}

export interface SecretsOptions {
  readonly file?: string;
  readonly cipher?: Cipher | null;
}

const entrySchema = z.object({ encrypted: z.boolean(), value: z.base64() });
const fileSchema = z.record(z.string(), entrySchema);

/** `~/.config/braid/secrets.json` on Linux. */
export function secretsFile(): string {
  return join(envPaths('braid', { suffix: '' }).config, 'secrets.json');
}

/** Opens the file; it is made when the first secret is set. */
export function openSecrets({ file = secretsFile(), cipher = null }: SecretsOptions = {}): Secrets {
  const entries = openUserFile(file, {
    schema: fileSchema,
    empty: {},
    what: 'the tokens that Braid keeps',
    code: 'SECRETS_UNREADABLE',
    remedy: 'Delete the file and enter the tokens again. Nothing else is in it.',
  });
  const get = (name: string): string | null => {
    const entry = entries.read()[name];
    if (entry === undefined) return null;
    const bytes = Buffer.from(entry.value, 'base64');
    if (!entry.encrypted) return bytes.toString('utf8');
    try {
      return cipher?.decrypt(bytes) ?? null;
    } catch {
      return null;
    }
  };
  return {
    isEncrypted: cipher !== null,
    get,
    isLocked: (name) => name in entries.read() && get(name) === null,
    set: (name, value) => {
      const bytes = value === null ? null : (cipher?.encrypt(value) ?? Buffer.from(value, 'utf8'));
      const entry = bytes && { encrypted: cipher !== null, value: Buffer.from(bytes).toString('base64') };
      entries.change(({ [name]: _, ...others }) => ({ ...others, ...(entry && { [name]: entry }) }));
    },
  };
}
