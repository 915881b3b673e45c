/** Requests from the desktop to its page: menus, opened files and clicked notifications go through the contract. */

export type PageRequest =
  /** Shows a screen: `/runs/7`. */
  | { readonly kind: 'go'; readonly path: string }
  /** Opens text files in the import dialog. */
  | { readonly kind: 'import'; readonly files: readonly string[] }
  /** Opens the search over everything. */
  | { readonly kind: 'palette' }
  /** Shows the keyboard shortcuts. */
  | { readonly kind: 'keys' }
  /** Starts the tour. */
  | { readonly kind: 'tour' };

export interface PageRequests {
  /** Sends now, or as soon as a page listens. */
  ask(request: PageRequest): void;
  /** All requests, in order; a later page replaces the current listener. */
  follow(signal?: AbortSignal): AsyncGenerator<PageRequest>;
}

/** Opens an empty request queue. */
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
      // The previous page is gone or about to be.
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

/** For a host that sends no requests: a browser has its own menus. */
export async function* noRequests(): AsyncGenerator<PageRequest> {
  // Ends at once.
}
