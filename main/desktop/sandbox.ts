/** Braid's window shows other people's texts and models: it isn't opened without Chromium's sandbox. */
import { app, dialog } from 'electron';
import { ownAppImage } from './app-image.ts';

/** A start without the sandbox, and where it came from. */
export interface SandboxState {
  /** Electron sets the switch for ELECTRON_DISABLE_SANDBOX, too. */
  readonly noSandbox: boolean;
  /** The AppImage that runs; null: it isn't one. */
  readonly appImage: string | null;
}

export interface Refusal {
  readonly title: string;
  readonly content: string;
}

/** Why the app may not start; null: its sandbox is on. */
export function refusal({ noSandbox, appImage }: SandboxState): Refusal | null {
  if (!noSandbox) return null;
  const title = "Braid can't start without its sandbox";
  const safe = 'Nothing was opened or changed.';
  const instead =
    'In a checkout, `npm start` opens Braid in the browser where the sandbox is not available, and so does `braid serve`.';
  // AppRun adds the switch where `unshare -Ur true` fails.
  const content =
    appImage !== null
      ? `The AppImage was started with --no-sandbox, which it adds by itself on systems that restrict unprivileged user namespaces. ${safe}\n\nInstall the .deb package, which sets up the sandbox. ${instead}`
      : `It was started with --no-sandbox or ELECTRON_DISABLE_SANDBOX. ${safe}\n\nStart it without them. If the sandbox doesn't work here, install the .deb package, which sets it up. ${instead}`;
  return { title, content };
}

/** The refusal of this start; null: it may go ahead. */
export function refusedStart(): Refusal | null {
  return refusal({ noSandbox: app.commandLine.hasSwitch('no-sandbox'), appImage: ownAppImage() });
}

/** Shows the reason and exits. Linux has dialogs only once the app is ready. */
export function explainRefusal({ title, content }: Refusal): void {
  dialog.showErrorBox(title, content);
  app.exit(1);
}
