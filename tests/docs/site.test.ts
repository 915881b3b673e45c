import { readdirSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { placeOf, targetOf } from '../../scripts/docs/links.ts';
import { groups } from '../../scripts/docs/pages.ts';
import { siteFiles } from '../../scripts/docs/site.ts';

const root = resolve(import.meta.dirname, '../..');
const documentsIn = (folder: string): string[] =>
  readdirSync(resolve(root, folder)).flatMap((name) => (name.endsWith('.md') ? [posix.join(folder, name)] : []));

describe("the documents' site", () => {
  it('lists every document once', () => {
    const listed = groups.flatMap(({ pages }) => pages.map(({ file }) => file));
    const elsewhere = listed.filter((file) => file.includes('/') && posix.dirname(file) !== 'docs');
    expect(listed.filter((file) => !elsewhere.includes(file)).sort()).toEqual(
      [...documentsIn('.'), ...documentsIn('docs')].sort(),
    );
  });

  it('has whatever its pages link to and show', () => {
    const files = siteFiles();
    const lost = [...files].flatMap(([place, content]) => {
      if (typeof content !== 'string' || !place.endsWith('.html')) return [];
      const text = content.replace(/<pre.*?<\/pre>/gs, '');
      return [...text.matchAll(/ (?:href|src)="([^"#]+)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link) && !files.has(posix.join(posix.dirname(place), link)))
        .map((link) => `${place}: ${link}`);
    });
    expect(lost).toEqual([]);
  });
});

describe('targetOf and placeOf', () => {
  const placed = (file: string, link: string) => {
    const target = targetOf(file, link, (path) => !path.includes('.'));
    return target && [placeOf(target), target.anchor];
  };

  it('lead to the page, the source, the picture or the folder', () => {
    expect(placed('docs/app.md', 'formats.md#run-folder')).toEqual(['docs/formats.html', 'run-folder']);
    expect(placed('docs/app.md', '../README.md')).toEqual(['index.html', '']);
    expect(placed('docs/app.md', '../main/random.ts')).toEqual(['main/random.ts.html', '']);
    expect(placed('README.md', 'docs/screens/run.png')).toEqual(['docs/screens/run.png', '']);
    expect(placed('README.md', 'docs/screens/')).toEqual(['docs/screens/index.html', '']);
  });

  it('leave other links as they are', () => {
    expect(['#here', 'https://example.org', 'mailto:a@example.org'].map((link) => placed('README.md', link))).toEqual([
      null,
      null,
      null,
    ]);
  });
});
