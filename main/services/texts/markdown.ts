/** Markdown as plain prose: CommonMark with tables, strikethrough, task lists and footnotes, as a reader sees it. */
/// <reference path="./markdown-it-footnote.d.ts" />
import MarkdownIt, { type Env } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { type MarkupText, readMarkup } from './markup-text.ts';

/** Tags that hide what follows until they are closed; without an end, they are words of the text. */
const HIDING =
  /<(?=(script|style|template|noscript|nav|svg|iframe|object|audio|video|canvas|select|textarea|button|title|xmp|noembed|noframes|plaintext)[\s>/])/gi;
const BOX = /^\[[ xX]\][ \t]+/;
/** GFM takes one tilde too, markdown-it only two. */
const STRUCK = /(?<!~)~(?![~\s])([^~]*[^~\s])~(?!~)/g;
/** GitHub's "> [!NOTE]". */
const ALERT = /^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/i;

// Line ends within a paragraph stay: poems and letters rely on them.
const parser = new MarkdownIt({ html: true, breaks: true }).use(footnotes);
parser.core.ruler.push('marks', ({ tokens }) => {
  tokens.forEach(({ type, children }, i) => {
    for (const child of children ?? []) if (child.type === 'text') child.content = child.content.replace(STRUCK, '$1');
    const first = children?.[0];
    if (type !== 'inline' || first?.type !== 'text') return;
    const outer = tokens[i - 2]?.type;
    if (outer === 'list_item_open') first.content = first.content.replace(BOX, '');
    if (outer === 'blockquote_open') first.content = first.content.replace(ALERT, '');
  });
});
for (const rule of ['html_inline', 'html_block'])
  parser.renderer.rules[rule] = (tokens, i, _, env) => shownTags(tokens[i]?.content ?? '', env);

/** The lines and headings of a Markdown file. */
export function readMarkdown(markdown: string): MarkupText {
  const text = withoutFrontMatter(markdown.replace(/\r\n?/g, '\n'));
  const lower = text.toLowerCase();
  const closed = new Map<string, boolean>();
  const isClosed = (name: string): boolean => {
    const known = closed.get(name) ?? lower.includes(`</${name}`);
    closed.set(name, known);
    return known;
  };
  return readMarkup(parser.render(text, { isClosed }));
}

/** Markdown as plain text, with its headings. */
export function plainText(markdown: string): string {
  return readMarkdown(markdown).lines.join('\n').trim();
}

function shownTags(content: string, env: Env | undefined): string {
  if (content.startsWith('<!--') && !content.includes('-->')) return content.replaceAll('<', '&lt;');
  const isClosed = env?.isClosed as (name: string) => boolean;
  return content.replace(HIDING, (tag, name: string) => (isClosed(name.toLowerCase()) ? tag : '&lt;'));
}

/** YAML between `---` or TOML between `+++`; a line across the page begins like it, but has no `name: value` below. */
function withoutFrontMatter(markdown: string): string {
  const text = markdown.replace(/^\ufeff/, '');
  const fence = /^(?:---|\+\+\+)(?=[ \t]*\n)/.exec(text)?.[0];
  if (fence === undefined) return text;
  const lines = text.split('\n');
  const ends = fence === '---' ? ['---', '...'] : [fence];
  const end = lines.findIndex((line, i) => i > 0 && ends.includes(line.trimEnd()));
  const isFields = end === 1 || /^(?:["']?[\w.-]+["']?[ \t]*[:=]|#|\[)/.test(lines[1] ?? '');
  return end > 0 && isFields ? lines.slice(end + 1).join('\n') : text;
}
