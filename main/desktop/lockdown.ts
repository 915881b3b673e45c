/** Keeps every window to our own page: no other address, no other window, no permission, no network. */
import { app, type Event, type Session, shell } from 'electron';
import { isAllowedLink } from './links.ts';
import { PAGE_ORIGIN } from './page-path.ts';

/** Whatever page comes to be, it goes nowhere and opens nothing. */
export function guardContents(): void {
  app.on('web-contents-created', (_, contents) => {
    const deny = (event: Event): void => event.preventDefault();
    contents.on('will-navigate', deny);
    contents.on('will-frame-navigate', deny);
    contents.on('will-redirect', deny);
    contents.on('will-attach-webview', deny);
    contents.setWindowOpenHandler(({ url }) => {
      if (isAllowedLink(url)) void shell.openExternal(url);
      return { action: 'deny' };
    });
  });
}

/** Copying text is the one thing that a page of ours asks for; it needs no device and reads nothing. */
const GRANTED = 'clipboard-sanitized-write';

/** Denies permissions and devices, and what would leave this machine. */
export function lockSession(session: Session): void {
  const granted = (permission: string, origin: string): boolean =>
    permission === GRANTED && (origin === PAGE_ORIGIN || origin.startsWith(`${PAGE_ORIGIN}/`));
  session.setPermissionRequestHandler((_contents, permission, answer, { requestingUrl }) =>
    answer(granted(permission, requestingUrl)),
  );
  session.setPermissionCheckHandler((_contents, permission, origin) => granted(permission, origin));
  session.setDevicePermissionHandler(() => false);
  session.webRequest.onBeforeRequest(
    { urls: ['http://*/*', 'https://*/*', 'ws://*/*', 'wss://*/*', 'file:///*'] },
    (_, answer) => answer({ cancel: true }),
  );
  session.on('will-download', (event, item) => {
    if (!item.getURL().startsWith(`blob:${PAGE_ORIGIN}/`)) event.preventDefault();
  });
}
