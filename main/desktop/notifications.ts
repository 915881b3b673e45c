/** The app's notices as notifications of the desktop, for someone who looks elsewhere. */
import { type BrowserWindow, Notification } from 'electron';
import type { PageRequests } from '../api/page-requests.ts';
import type { App } from '../services/app.ts';
import type { Notice } from '../services/notices.ts';
import { readSettings } from '../services/settings.ts';
import { showWindow } from './window.ts';

const TITLES: { readonly [severity in Notice['severity']]: string } = {
  info: 'Braid',
  warning: 'Braid needs your attention',
  error: 'Something failed in Braid',
};

/** Notifies of each notice, unless the window is in front or the settings say not to. A click shows the run. */
export function notifyOfNotices(window: BrowserWindow, { notices, store }: App, requests: PageRequests): void {
  // One without a reference is collected, and its click with it.
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
