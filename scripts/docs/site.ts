/** The documents' site: every file of it, made in memory. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { kindOf, linkBetween, placeOf, type Target } from './links.ts';
import { groups } from './pages.ts';
import { renderDocument } from './render.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const isFolder = (path: string): boolean => statSync(join(root, path)).isDirectory();

/** A part of a document, as the page's script searches it. */
interface Indexed {
  readonly id: number;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  readonly place: string;
}

/** The site by place: a text, or the path of the file to copy. */
export function siteFiles(): ReadonlyMap<string, string | { readonly copy: string }> {
  const files = new Map<string, string | { readonly copy: string }>();
  const index: Indexed[] = [];
  const titles = new Map(groups.flatMap(({ pages }) => pages.map(({ file, title }) => [file, title])));
  const waiting: Pick<Target, 'path' | 'kind'>[] = [...titles.keys()].map((path) => ({ path, kind: 'document' }));

  for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
    const { path, kind } = target;
    const place = placeOf(target);
    if (files.has(place)) continue;
    switch (kind) {
      case 'document': {
        const { html, sections, targets } = renderDocument(path, read(path), isFolder);
        const title = titles.get(path) ?? path;
        files.set(place, page(place, title, html));
        waiting.push(...targets);
        for (const { heading, text, anchor } of sections)
          index.push({ id: index.length, page: title, heading, text, place: `${place}#${anchor}` });
        break;
      }
      case 'folder': {
        const inside = readdirSync(join(root, path)).map((name) => {
          const inner = posix.join(path, name);
          return { path: inner, kind: kindOf(inner, isFolder) };
        });
        files.set(place, page(place, path, listing(path, place, inside)));
        waiting.push(...inside.filter(({ kind }) => kind !== 'folder'));
        break;
      }
      case 'picture':
        files.set(place, { copy: join(root, path) });
        break;
      case 'source':
        files.set(place, page(place, path, `<h1>${path}</h1>\n<pre><code>${escaped(read(path))}</code></pre>`));
        break;
    }
  }
  files.set('search-index.js', `globalThis.sections = ${JSON.stringify(index)};\n`);
  files.set('minisearch.js', { copy: join(root, 'node_modules/minisearch/dist/umd/index.js') });
  for (const name of ['search.js', 'site.css']) files.set(name, { copy: join(import.meta.dirname, name) });
  return files;
}

/** What a folder has, for links to folders: pictures are shown, files are links. */
function listing(path: string, place: string, inside: readonly Pick<Target, 'path' | 'kind'>[]): string {
  const items = inside.map((target) => {
    const name = posix.basename(target.path);
    const link = linkBetween(place, placeOf(target));
    if (target.kind === 'folder') return `<li>${name}/</li>`;
    return target.kind === 'picture'
      ? `<li><a href="${link}">${name}</a><br><img src="${link}" alt="" loading="lazy"></li>`
      : `<li><a href="${link}">${name}</a></li>`;
  });
  return `<h1>${path}/</h1>\n<ul>${items.join('\n')}</ul>`;
}

function page(place: string, title: string, content: string): string {
  const link = (path: string): string => linkBetween(place, path);
  const nav = groups.map(({ title, pages }) => {
    const items = pages.map(({ file, title }) => {
      const to = placeOf({ path: file, kind: 'document' });
      return `<li><a href="${link(to)}"${to === place ? ' aria-current="page"' : ''}>${title}</a></li>`;
    });
    return `<h2>${title}</h2>\n<ul>${items.join('')}</ul>`;
  });
  const base = link('x').slice(0, -1);
  return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Braid</title>
<link rel="stylesheet" href="${link('site.css')}">
</head>
<body>
<header>
<a class="name" href="${link('index.html')}">Braid</a>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search the documents" autocomplete="off">
<ol id="found" hidden></ol>
</header>
<details class="pages" open><summary>Pages</summary><nav aria-label="Pages">${nav.join('\n')}</nav></details>
<main>
${content.replaceAll('<pre>', '<pre tabindex="0">')}
</main>
<script src="${link('minisearch.js')}"></script>
<script src="${link('search-index.js')}"></script>
<script src="${link('search.js')}"></script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
