/** A report as one HTML file, which opens without a network: the built page, its styles, and the report as data. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BraidError } from '../../errors.ts';
import type { Report } from './report.ts';

/** The built page of reports: one script, one style sheet. */
export interface PageParts {
  readonly script: string;
  readonly styles: string;
}

/** `page`: the folder of the built renderer. */
export function readPageParts(page: string): PageParts {
  const [script, styles] = ['report.js', 'report.css'].map((name) => join(page, 'report', name));
  if (script === undefined || styles === undefined || !existsSync(script) || !existsSync(styles))
    throw new BraidError('NOT_BUILT', 'The page of reports has not been built', {
      kind: 'input',
      remedy: 'Run npm run build.',
    });
  return { script: readFileSync(script, 'utf8'), styles: readFileSync(styles, 'utf8') };
}

/** Nothing is loaded and nothing is sent: what a completion holds stays text, whatever it looks like. */
const policy = (script: string): string =>
  [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/** The file's text. */
export function reportPage(report: Report, { script, styles }: PageParts): string {
  // In a script, a tag can stand in a string only.
  const code = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(code)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Braid ${escaped(report.version)}">
<title>${escaped(report.title)}</title>
<style>${styles.replaceAll('</style', '<\\/style')}</style>
</head>
<body>
<div id="root"><h1>${escaped(report.title)}</h1><p>${escaped(report.summary)}</p></div>
<noscript>Charts and completions need JavaScript.</noscript>
<script type="application/gzip" id="report">${packed(report)}</script>
<script>${code}</script>
</body>
</html>
`;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[mark] ?? '&quot;');

/** Compressed, in base64. JSON has no NaN; the page reads `{"#": "NaN"}` as the number. Whole numbers may be somebody's ids. */
function packed(report: Report): string {
  const json = JSON.stringify(report, (_, value: unknown) => {
    if (typeof value !== 'number') return value;
    if (!Number.isFinite(value)) return { '#': String(value) };
    return Number.isInteger(value) ? value : Number(value.toPrecision(9));
  });
  return gzipSync(json, { level: 9 }).toString('base64');
}
