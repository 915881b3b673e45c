/** Against Jinja2 as transformers sets it up: see jinja.py, which made the values. What we can't do is refused by name. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PyError } from '../../main/model/jinja/errors.ts';
import { parseTemplate } from '../../main/model/jinja/template.ts';
import { plain } from '../../main/model/jinja/text.ts';

type Values = Readonly<Record<string, unknown>>;

interface Stored {
  readonly values: Values;
  /** A template and its text; null: Jinja2 fails. */
  readonly cases: readonly (readonly [string, string | null])[];
  /** A template with marks, the texts for each mark, and what every combination makes, in order. */
  readonly grids: readonly {
    readonly template: string;
    readonly parts: readonly (readonly string[])[];
    readonly results: readonly (string | null)[];
  }[];
  readonly families: readonly {
    readonly name: string;
    readonly template: string;
    readonly chats: readonly (readonly [Values, string | null])[];
  }[];
}

const fixture = fileURLToPath(new URL('./fixtures/jinja.json', import.meta.url));
const { values, cases, grids, families } = JSON.parse(readFileSync(fixture, 'utf8')) as Stored;

/** The text, or null where the template is refused. */
function rendered(template: string, given: Values): string | null {
  try {
    return plain(parseTemplate(template).render(given));
  } catch (error) {
    if (error instanceof PyError && error.message !== '') return null;
    throw error;
  }
}

function combinations(parts: readonly (readonly string[])[]): string[][] {
  const [first, ...rest] = parts;
  if (first === undefined) return [[]];
  const others = combinations(rest);
  return first.flatMap((part) => others.map((other) => [part, ...other]));
}

/** Templates that give another text than Jinja2, and how many are refused that it renders. */
function compared(all: readonly (readonly [string, string | null])[]) {
  const results = all.map(([template, text]) => ({ template, text, ours: rendered(template, values) }));
  const different = results.filter(({ text, ours }) => ours !== null && ours !== text);
  return { different, refused: results.filter(({ text, ours }) => ours === null && text !== null).length };
}

describe('a template', () => {
  it(`gives the text of Jinja2 or is refused: ${cases.length} of every kind`, () => {
    const { different, refused } = compared(cases);
    expect(different).toEqual([]);
    expect(refused).toBeLessThan(cases.length / 10);
  });

  it.each(grids)('gives the text of Jinja2 or is refused: $template', ({ template, parts, results }) => {
    const all = combinations(parts).map((chosen, i) => {
      const filled = chosen.reduce((text, part, at) => text.replaceAll('①②③'[at] ?? '', () => part), template);
      return [filled, results[i] ?? null] as const;
    });
    expect(all).toHaveLength(results.length);
    const { different, refused } = compared(all);
    expect(different).toEqual([]);
    expect(refused).toBeLessThan(Math.max(20, all.length / 5));
  });
});

describe.each(families)('the template in the manner of $name', ({ template, chats }) => {
  it.each(chats.map(([given, text]) => ({ given, text })))('gives the text of Jinja2: $text', ({ given, text }) => {
    expect(rendered(template, given)).toBe(text);
  });
});
