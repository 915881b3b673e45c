/** Tokens encrypted by the system's key store: Keychain, DPAPI, libsecret or KWallet. */
import { safeStorage } from 'electron';
import { openSecrets, type Secrets } from '../services/workspace/secrets.ts';

/** Opens the tokens; in a file that only its owner may read where the system has no key store. */
export function systemSecrets(): Secrets {
  return openSecrets({ cipher: hasKeyStore() ? { encrypt, decrypt } : null });
}

/** On Linux without one, Electron would encrypt with a key that everybody knows. */
function hasKeyStore(): boolean {
  if (!safeStorage.isEncryptionAvailable()) return false;
  return process.platform !== 'linux' || safeStorage.getSelectedStorageBackend() !== 'basic_text';
}

function encrypt(text: string): Uint8Array {
  return safeStorage.encryptString(text);
}

function decrypt(bytes: Uint8Array): string {
  return safeStorage.decryptString(Buffer.from(bytes));
}
