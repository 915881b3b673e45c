/**
 * Links of the documents, which are written for GitHub, as they are on the site. The site has the repository's layout:
 * a document is its path with .html, a source file one with .html after its name, a picture itself.
 */
import { posix } from 'node:path';

export type TargetKind = 'document' | 'folder' | 'picture' | 'source';

/** A link within the repository: what it leads to, and where in it. */
export interface Target {
  readonly path: string;
  readonly anchor: string;
  readonly kind: TargetKind;
}

const PICTURES = /\.(?:png|svg)$/;

/** What a link of `file` leads to; null: out of the repository, or within the document. */
export function targetOf(file: string, link: string, isFolder: (path: string) => boolean): Target | null {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(link)) return null;
  const [relative = '', anchor = ''] = link.split('#');
  const path = posix.join(posix.dirname(file), decodeURIComponent(relative)).replace(/\/$/, '');
  return { path, anchor, kind: kindOf(path, isFolder) };
}

/** What is at a path of the repository. */
export function kindOf(path: string, isFolder: (path: string) => boolean): TargetKind {
  if (path.endsWith('.md')) return 'document';
  if (PICTURES.test(path)) return 'picture';
  return isFolder(path) ? 'folder' : 'source';
}

/** Where the site has it. */
export function placeOf({ path, kind }: Pick<Target, 'path' | 'kind'>): string {
  switch (kind) {
    case 'document':
      return path.replace(/(?:README)?\.md$/, (name) => (name === '.md' ? '.html' : 'index.html'));
    case 'folder':
      return `${path}/index.html`;
    case 'picture':
      return path;
    case 'source':
      return `${path}.html`;
  }
}

/** A link from one place of the site to another. */
export function linkBetween(from: string, to: string, anchor = ''): string {
  return posix.relative(posix.dirname(from), to) + (anchor === '' ? '' : `#${anchor}`);
}

/** Gives the anchors of a document's headings one after the other, as GitHub makes them. */
export function anchorMaker(): (heading: string) => string {
  const given = new Set<string>();
  return (heading) => {
    const base = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let name = base;
    for (let n = 1; given.has(name); n++) name = `${base}-${n}`;
    given.add(name);
    return name;
  };
}
