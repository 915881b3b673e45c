/** Keeps every window to our own page: no other URL, no other window, no permissions, no network. */
import { app, type Event, type Session, shell } from 'electron';
import { PAGE_ORIGIN } from './page-path.ts';

/** No page may navigate or open windows. */
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

/** Our pages only need permission to copy text, which uses no device and reads nothing. */
const GRANTED = 'clipboard-sanitized-write';

/** Denies permissions, devices and requests to other machines. */
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

/** Model cards; the page has no other external links. */
const HOSTS: readonly string[] = ['huggingface.co'];

/** Whether a URL may be opened in the browser: https, a known host, no credentials. */
function isAllowedLink(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'https:' && HOSTS.includes(url.host) && url.username === '' && url.password === '';
}
