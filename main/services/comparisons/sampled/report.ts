/** The Markdown report of a comparison. */
import { counted, signed } from '../../../text/format.ts';
import { inline, literalLine } from '../../../text/markdown.ts';
import { type ComparisonRow, LEVEL, type PairedDifference } from '../../text-worker/comparison-table.ts';
import type { ModelComparison } from './compare.ts';
import type { Figure } from './figures.ts';

const SHOWN_PROMPTS = 3;
const SHOWN_COMPLETIONS = 3;

/** The report; figures are linked by relative path. */
export function comparisonReport(comparison: ModelComparison, figures: readonly Figure[]): string {
  const { options, prompts, dataset, models, rows, backend, relevanceModel } = comparison;
  // Of a folder's task the first measure is its main metric.
  const passesBy = options.measures?.[0] ?? (options.task === 'reply' ? 'reward' : 'alignment');
  const baseline = models[0]?.name ?? '';
  return [
    '# Comparison',
    '',
    `${models.length} models, ${counted(prompts, 'held-out prompt')} of \`${dataset}\`, ${counted(options.samples, 'completion')} each at temperature ${options.temperature}, the same prompts and random numbers for all (seed ${options.seed}), on ${backend}.${relevanceModel === null ? '' : ` Relevance by the sentence encoder in \`${relevanceModel}\`.`}`,
    '',
    `A completion **passes** when its ${passesBy} is at least ${options.threshold}; pass@k is the unbiased estimate from ${options.samples} samples. Values are means over prompts with 95% bootstrap intervals. A **winner** is named only if its difference from every other model is significant: paired sign-flip test, corrected over the whole table by Holm's method, level ${LEVEL}.`,
    '',
    cutOffInWords(comparison, cell),
    '',
    ...models.flatMap(({ name, askedAs }) =>
      askedAs === null
        ? []
        : [`**${cell(name)}** was asked as ${cell(askedAs)} is: with its system prompt and template settings.`, ''],
    ),
    ...summaryTable(
      models.map(({ name }) => name),
      rows,
    ),
    '',
    `## Compared with ${cell(baseline)}`,
    '',
    ...pairTable(rows, ({ from }) => from === baseline),
    '',
    ...otherPairs(rows, baseline),
    '## Figures',
    '',
    ...figures.flatMap(({ name, title }) => [
      `![${title}](figures/${name}.svg)`,
      '',
      `[${title}: data](data/${name}.csv)`,
      '',
    ]),
    '## Sample completions',
    '',
    ...examples(comparison),
    '',
  ].join('\n');
}

/** How long completions could get, and how many were cut off. */
export function cutOffInWords(
  { options, models }: Pick<ModelComparison, 'options' | 'models'>,
  written = (name: string): string => name,
): string {
  const shares = models.map(({ name, terminated }) => `${written(name)} ${Math.round(100 * (1 - terminated))}%`);
  return `Completions of up to ${options.max_completion_length} tokens; cut off: ${shares.join(', ')}.`;
}

function summaryTable(names: readonly string[], rows: readonly ComparisonRow[]): string[] {
  return [
    `| metric | ${names.map(cell).join(' | ')} | winner |`,
    `|---|${names.map(() => '---').join('|')}|---|`,
    ...rows.map(({ measure, means, winner }) => {
      const arrow = measure.better === 'higher' ? ' ↑' : measure.better === 'lower' ? ' ↓' : '';
      const values = means.map(({ mean, low, high }) => `${number(mean)} [${number(low)}, ${number(high)}]`);
      return `| ${measure.label}${arrow} | ${values.join(' | ')} | ${winner === null ? '–' : `**${cell(winner)}**`} |`;
    }),
  ];
}

function pairTable(rows: readonly ComparisonRow[], wanted: (pair: PairedDifference) => boolean): string[] {
  return [
    '| metric | model | difference | p | p corrected | wins, ties, losses |',
    '|---|---|---|---|---|---|',
    ...rows.flatMap(({ measure, pairs }) =>
      pairs.filter(wanted).map(({ from, to, difference: d, p, p_corrected, significant, wins, ties, losses }) => {
        const mark = significant ? '**' : '';
        return `| ${measure.label} | ${cell(to)} − ${cell(from)} | ${mark}${signed(d.mean)} [${signed(d.low)}, ${signed(d.high)}]${mark} | ${chance(p)} | ${chance(p_corrected)} | ${wins}, ${ties}, ${losses} |`;
      }),
    ),
  ];
}

function otherPairs(rows: readonly ComparisonRow[], baseline: string): string[] {
  const others = rows.some(({ pairs }) => pairs.some(({ from }) => from !== baseline));
  return others ? ['## Between the other models', '', ...pairTable(rows, ({ from }) => from !== baseline), ''] : [];
}

function examples({ models }: ModelComparison): string[] {
  const first = models[0]?.answers.slice(0, SHOWN_PROMPTS) ?? [];
  return first.flatMap(({ prompt }, i) => [
    ...quoted(prompt),
    '',
    ...models.flatMap(({ name, answers }) => {
      const shown = answers[i]?.completions.slice(0, SHOWN_COMPLETIONS) ?? [];
      return [`- ${cell(name)}`, ...shown.map((completion) => `  - ${cell(completion) || '(empty)'}`)];
    }),
    '',
  ]);
}

function quoted(text: string): string[] {
  return text.split('\n').map((line) => `> ${literalLine(line)}`);
}

/** Text that can't end a table cell, start a line or be more than text. */
function cell(text: string): string {
  return inline(text).trim();
}

function number(value: number): string {
  return Number.isFinite(value) ? value.toFixed(3) : '–';
}

function chance(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}
