/** Opens the workspace; on failure says why and asks what to do instead. */
import { app, dialog, safeStorage } from 'electron';
import { BraidError } from '../errors.ts';
import { type App, openApp } from '../services/app/app.ts';
import type { HostPaths } from '../services/workspace/paths.ts';
import { openSecrets, type Secrets } from '../services/workspace/secrets.ts';
import type { Preferences } from './preferences.ts';

const CHOICES = ['Choose another workspace…', 'Try again', 'Quit'];
const [CHOOSE, AGAIN] = [0, 1];

/** The open app; null if the user gave up. Launch arguments come first, then the environment, then the last choice. */
export async function openWorkspaceOrAsk(
  given: string | undefined,
  paths: HostPaths,
  preferences: Preferences,
): Promise<App | null> {
  let wanted = given ?? (process.env.BRAID_WORKSPACE ? undefined : preferences.get('workspace'));
  for (;;) {
    try {
      return openApp({ workspace: wanted, paths, what: 'the desktop app', secrets: systemSecrets() });
    } catch (error) {
      const { response } = await dialog.showMessageBox({
        type: 'error',
        title: 'Braid',
        message: "Braid can't open its workspace",
        detail: inWords(error),
        buttons: CHOICES,
        defaultId: CHOOSE,
        cancelId: CHOICES.length - 1,
        noLink: true,
      });
      if (response === AGAIN) continue;
      const chosen = response === CHOOSE ? await chooseWorkspace() : null;
      if (chosen === null) return null;
      preferences.set('workspace', chosen);
      wanted = chosen;
    }
  }
}

/** Asks for a folder; an empty one becomes a new workspace. */
export async function chooseWorkspace(): Promise<string | null> {
  const { canceled, filePaths } = await dialog.showOpenDialog({
    title: 'Open a workspace: its folder, or an empty one for a new workspace',
    defaultPath: app.getPath('documents'),
    properties: ['openDirectory', 'createDirectory'],
  });
  return canceled ? null : (filePaths[0] ?? null);
}

function inWords(error: unknown): string {
  if (error instanceof BraidError) return [error.message, error.remedy ?? ''].join('\n\n').trim();
  return error instanceof Error ? error.message : String(error);
}

/** Opens the tokens; in a file that only its owner may read where the system has no key store. */
function systemSecrets(): Secrets {
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
