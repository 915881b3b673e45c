/** A document of the repository as HTML, with the texts of its sections for the search. */
import MarkdownIt from 'markdown-it';
import { anchorMaker, linkBetween, placeOf, type Target, targetOf } from './links.ts';

export interface Section {
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly sections: readonly Section[];
  /** What it links to and shows, within the repository. */
  readonly targets: readonly Target[];
}

const markdown = new MarkdownIt({ html: true });

/** Renders `text`, the document at `file`. */
export function renderDocument(file: string, text: string, isFolder: (path: string) => boolean): Rendered {
  const tokens = markdown.parse(text, {});
  const nextAnchor = anchorMaker();
  const targets: Target[] = [];
  const sections: { heading: string; anchor: string; text: string }[] = [];
  const place = placeOf({ path: file, kind: 'document' });

  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') {
      const heading = tokens[i + 1]?.content ?? '';
      const anchor = nextAnchor(heading);
      token.attrSet('id', anchor);
      sections.push({ heading: plain(heading), anchor, text: '' });
    } else if (token.type !== 'inline' || tokens[i - 1]?.type !== 'heading_open') {
      const section = sections.at(-1);
      if (section !== undefined && token.type !== 'html_block') section.text += plain(token.content);
    }
    for (const child of token.children ?? []) {
      const name = child.type === 'image' ? 'src' : 'href';
      const link = child.attrGet(name);
      const target = typeof link === 'string' ? targetOf(file, link, isFolder) : null;
      if (target === null) continue;
      targets.push(target);
      child.attrSet(name, linkBetween(place, placeOf(target), target.anchor));
    }
  });
  return { html: markdown.renderer.render(tokens, markdown.options, {}), sections, targets };
}

/** A text without marks of Markdown, as it is searched and quoted. */
function plain(text: string): string {
  const words = text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*`]/g, '');
  return words === '' ? '' : `${words.replace(/\s+/g, ' ').trim()} `;
}
