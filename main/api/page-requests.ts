/** What the desktop asks its page to do: menus, opened files and clicked notifications reach it through the contract. */

export type PageRequest =
  /** Shows a screen: `/runs/7`. */
  | { readonly kind: 'go'; readonly path: string }
  /** Offers text files for import. */
  | { readonly kind: 'import'; readonly files: readonly string[] }
  /** Opens the search over everything. */
  | { readonly kind: 'palette' }
  /** Shows the keys. */
  | { readonly kind: 'keys' };

export interface PageRequests {
  /** Asks now, or as soon as a page listens. */
  ask(request: PageRequest): void;
  /** Everything asked, in order; a page that comes later takes over. */
  follow(signal?: AbortSignal): AsyncGenerator<PageRequest>;
}

/** Opens an empty list of requests. */
export function openPageRequests(): PageRequests {
  const waiting: PageRequest[] = [];
  let wake: () => void = () => undefined;
  let latest = 0;
  return {
    ask: (request) => {
      waiting.push(request);
      wake();
    },
    async *follow(signal) {
      const mine = ++latest;
      const here = (): boolean => mine === latest && signal?.aborted !== true;
      // The page before this one is gone or about to be.
      wake();
      const abort = (): void => wake();
      signal?.addEventListener('abort', abort);
      try {
        while (here()) {
          const next = waiting.shift();
          if (next !== undefined) yield next;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
  };
}

/** For a host that asks nothing: a browser has its own bars. */
export async function* noRequests(): AsyncGenerator<PageRequest> {
  // Ends at once.
}
