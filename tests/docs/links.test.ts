import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorMaker } from '../../scripts/docs/links.ts';

const root = resolve(import.meta.dirname, '../..');

/** What stands at the root, in docs/ and in .github/. */
function documents(): string[] {
  return ['.', 'docs', '.github'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [join(folder, name)] : [])),
  );
}

/** A document's text without code. */
function prose(file: string): string {
  return readFileSync(file, 'utf8')
    .replace(/^(```|~~~).*?^\1/gms, '')
    .replace(/`[^`\n]*`/g, 'code');
}

/** Targets of links and images, inline, by reference and in HTML. */
function targets(text: string): string[] {
  const inline = text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  const references = text.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/gm);
  const html = text.matchAll(/<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)="([^"]+)"/g);
  return [...inline, ...references, ...html].map(([, target]) => target ?? '');
}

/** The anchors of a document's headings. */
function anchors(file: string): Set<string> {
  const text = readFileSync(file, 'utf8').replace(/^(```|~~~).*?^\1/gms, '');
  const next = anchorMaker();
  return new Set([...text.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => next(heading)));
}

/** What is wrong with a link, or null. */
function fault(file: string, target: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return null;
  const [path = '', anchor] = target.split('#');
  const goal = path === '' ? file : resolve(dirname(file), decodeURIComponent(path));
  if (relative(root, goal).startsWith('..')) return `${target} leads out of the repository`;
  if (!existsSync(goal)) return `${target}: there is no such file`;
  if (anchor === undefined || !goal.endsWith('.md') || !statSync(goal).isFile()) return null;
  return anchors(goal).has(anchor) ? null : `${target}: there is no such heading`;
}

describe('links in the documents', () => {
  it('are checked in all of them', () => {
    expect(documents()).toEqual(
      expect.arrayContaining(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/algorithm.md', 'docs/tutorial.md']),
    );
  });

  it.each(documents())('%s leads to files and headings that exist', (name) => {
    const file = join(root, name);
    expect(targets(prose(file)).flatMap((target) => fault(file, target) ?? [])).toEqual([]);
  });

  it('notices links that lead nowhere', () => {
    const file = join(root, 'docs/formats.md');
    const text =
      '[a](nowhere.md) ![b](formats.md#none "title") <img src="gone.png"> [c](https://example.org)\n[d]: lost.md\n';
    expect(targets(text)).toHaveLength(5);
    expect(targets(text).flatMap((target) => fault(file, target) ?? [])).toEqual([
      'nowhere.md: there is no such file',
      'formats.md#none: there is no such heading',
      'lost.md: there is no such file',
      'gone.png: there is no such file',
    ]);
  });
});
