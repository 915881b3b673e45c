/** What a browser knows after it opened the printed address of `braid serve`: where the page is, and its headers. */

export interface PageEntry {
  /** The address of the page, with a path that is random at each start. */
  readonly page: string;
  /** That of its socket. */
  readonly socket: string;
  /** Those of a request of the page. */
  readonly headers: Record<string, string>;
}

/** Opens the printed address as a browser would. */
export async function enterPage(printed: string): Promise<PageEntry> {
  const entered = await fetch(printed, { redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  const page = new URL(entered.headers.get('location') ?? '', printed);
  const socket = new URL('rpc', page);
  socket.protocol = 'ws:';
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { page: page.href, socket: socket.href, headers: { Cookie: cookie, Origin: page.origin } };
}
