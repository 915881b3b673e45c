/** The content types of the page's files; the same in both hosts. */
import { extname } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** The content type of a file by its extension. */
export function contentType(file: string): string {
  return TYPES[extname(file)] ?? 'application/octet-stream';
}
