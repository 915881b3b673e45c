/** The page's own scheme, `app://braid/`: files of the built page, with its policy, and nothing else. */
import { readFile } from 'node:fs/promises';
import { protocol } from 'electron';
import { contentSecurityPolicy } from '../api/page-policy.ts';
import { contentType } from '../api/page-types.ts';
import { PAGE_SCHEME, pageFile } from './page-path.ts';

/** Call before the app is ready: registers a secure scheme with its own origin. */
export function registerScheme(): void {
  const privileges = { standard: true, secure: true, supportFetchAPI: true };
  protocol.registerSchemesAsPrivileged([{ scheme: PAGE_SCHEME, privileges }]);
}

/** Serves the built page in `folder`. */
export function servePage(folder: string): void {
  protocol.handle(PAGE_SCHEME, async ({ method, url }) => {
    if (method !== 'GET' && method !== 'HEAD') return refused(405);
    const file = pageFile(folder, url);
    if (file === null) return refused(404);
    try {
      return new Response(await readFile(file), { headers: headersOf(file) });
    } catch {
      // Missing, or a folder.
      return refused(404);
    }
  });
}

function headersOf(file: string): Record<string, string> {
  return {
    'Content-Type': contentType(file),
    'Content-Security-Policy': contentSecurityPolicy(),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}

function refused(status: number): Response {
  return new Response('File not found.\n', { status });
}
