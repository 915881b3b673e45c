import { describe, expect, it } from 'vitest';
import { noRequests, openPageRequests } from '../../main/api/page-requests.ts';

describe('openPageRequests', () => {
  it('keeps requests until a page listens, in order', async () => {
    const requests = openPageRequests();
    requests.ask({ kind: 'import', files: ['/a.txt'] });
    requests.ask({ kind: 'palette' });
    const page = requests.follow();
    expect((await page.next()).value).toEqual({ kind: 'import', files: ['/a.txt'] });
    expect((await page.next()).value).toEqual({ kind: 'palette' });
    const next = page.next();
    requests.ask({ kind: 'go', path: '/runs' });
    expect((await next).value).toEqual({ kind: 'go', path: '/runs' });
  });

  it('ends for a page that leaves or is replaced, and loses nothing', async () => {
    const requests = openPageRequests();
    const controller = new AbortController();
    const gone = requests.follow(controller.signal).next();
    controller.abort();
    expect((await gone).done).toBe(true);
    const before = requests.follow().next();
    const after = requests.follow().next();
    expect((await before).done).toBe(true);
    requests.ask({ kind: 'keys' });
    expect((await after).value).toEqual({ kind: 'keys' });
  });
});

describe('noRequests', () => {
  it('ends at once', async () => {
    expect((await noRequests().next()).done).toBe(true);
  });
});
