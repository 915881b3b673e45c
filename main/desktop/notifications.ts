/** The app's notices as desktop notifications, while the window isn't focused. */
import { type BrowserWindow, Notification } from 'electron';
import type { PageRequests } from '../api/page-requests.ts';
import type { App } from '../services/app/app.ts';
import type { Notice } from '../services/workspace/notices.ts';
import { readSettings } from '../services/workspace/settings.ts';
import { showWindow } from './window.ts';

const TITLES: { readonly [severity in Notice['severity']]: string } = {
  info: 'Braid',
  warning: 'Braid needs your attention',
  error: 'Something failed in Braid',
};

/** Shows each notice as a notification unless the window is focused or the settings disable it. A click opens the run. */
export function notifyOfNotices(window: BrowserWindow, { notices, store }: App, requests: PageRequests): void {
  // Without a reference, a notification is garbage-collected together with its click handler.
  const shown = new Set<Notification>();
  notices.listen(({ severity, message, remedy, runId }) => {
    if (window.isFocused() || !readSettings(store).notify || !Notification.isSupported()) return;
    const notification = new Notification({ title: TITLES[severity], body: [message, remedy ?? ''].join('\n').trim() });
    shown.add(notification);
    notification.on('close', () => shown.delete(notification));
    notification.on('click', () => {
      showWindow(window);
      if (runId !== null) requests.ask({ kind: 'go', path: `/runs/${runId}` });
    });
    notification.show();
  });
}
