/** A comparison as a file: CSV for spreadsheets, JSON for programs, Markdown for people. */

import { csvText } from '../../../io/csv.ts';
import type { Store } from '../../../store/index.ts';
import type { Task, TaskRecord } from '../../../tasks/task.ts';
import { counted, signed } from '../../../text/format.ts';
import { inline } from '../../../text/markdown.ts';
import { TIE } from '../../evaluation/summary.ts';
import { readPromptSet } from './prompt-set.ts';
import { storedItems, wordsOf } from './stored.ts';
import { type ComparedModel, type ComparisonView, titlesOf } from './view.ts';

export type ExportFormat = 'csv' | 'json' | 'markdown';

export interface TextFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** Every prompt with each model's completion. */
interface ExportedPrompt {
  readonly id: string;
  readonly words: number;
  readonly title_a: string;
  readonly title_b: string;
  readonly target: string;
  readonly models: readonly ({
    readonly alignment: number;
    readonly exact_match: number;
    readonly first_error: number;
    readonly completion: string;
  } | null)[];
}

/** Writes a comparison in one of the formats. */
export function exportComparison(store: Store, view: ComparisonView, format: ExportFormat): TextFile {
  const name = `comparison-${view.id}`;
  switch (format) {
    case 'csv':
      return { name: `${name}.csv`, type: 'text/csv', text: toCsv(view, exportedPrompts(store, view)) };
    case 'json':
      return { name: `${name}.json`, type: 'application/json', text: toJson(view, exportedPrompts(store, view)) };
    case 'markdown':
      return { name: `${name}.md`, type: 'text/markdown', text: toMarkdown(view) };
  }
}

function exportedPrompts(store: Store, { id, prompts }: ComparisonView): ExportedPrompt[] {
  const set = readPromptSet(store, prompts.id);
  const { task, records } = set;
  const items = store.comparisons.models(id).map(({ evaluationId }) => {
    const kept = evaluationId === null ? [] : storedItems(store, evaluationId, set);
    return new Map(kept.map((item) => [item.id, item]));
  });
  return records.map((record) => ({
    ...promptOf(task, record),
    models: items.map((known) => {
      const item = known.get(record.id);
      if (item === undefined) return null;
      const { alignment, exact_match, first_error, completion } = item;
      return { alignment, exact_match, first_error, completion };
    }),
  }));
}

function promptOf(task: Task, record: TaskRecord) {
  const target = task.target(record);
  const [title_a, title_b] = titlesOf(task, record);
  return { id: record.id, words: wordsOf(record, target), title_a, title_b, target };
}

function toCsv({ models }: ComparisonView, prompts: readonly ExportedPrompt[]): string {
  const head = ['id', 'words', 'title_a', 'title_b', 'target'];
  const measured = ['alignment', 'gain', 'exact_match', 'first_error', 'completion'];
  const names = models.flatMap(({ name }, i) =>
    measured.flatMap((m) => (i === 0 && m === 'gain' ? [] : [`${name}: ${m}`])),
  );
  const rows = prompts.map(({ id, words, title_a, title_b, target, models: answers }) => [
    ...[id, words, title_a, title_b, target],
    ...answers.flatMap((answer, i) => {
      const gain = answer === null || !answers[0] ? '' : answer.alignment - answers[0].alignment;
      const { alignment = '', exact_match = '', first_error = '', completion = '' } = answer ?? {};
      return [alignment, ...(i === 0 ? [] : [gain]), exact_match, first_error, completion];
    }),
  ]);
  return csvText([[...head, ...names], ...rows]);
}

function toJson(view: ComparisonView, prompts: readonly ExportedPrompt[]): string {
  const { rows: _, ...head } = view;
  return `${JSON.stringify({ ...head, items: prompts }, null, 2)}\n`;
}

function toMarkdown({ models, prompts, rows, metric }: ComparisonView): string {
  const [baseline] = models;
  const lines = [
    `# ${models
      .slice(1)
      .map(({ name }) => inline(name))
      .join(', ')} against ${inline(baseline?.name ?? '')}`,
    '',
    `${counted(prompts.n, 'held-out prompt')} of ${inline(prompts.datasets.join(', '))} (seed ${prompts.seed}, set ${prompts.hash}), greedy completions. Intervals: 95% bootstrap.`,
    '',
    `| model | ${metric.label.toLowerCase()} | 95% interval | ${metric.solved.toLowerCase()} | difference | 95% interval | wins | ties | losses |`,
    '| --- | ---: | --- | ---: | ---: | --- | ---: | ---: | ---: |',
    ...models.map(markdownRow),
  ];
  return `${[...lines, ...models.flatMap((model, i) => (i === 0 ? [] : extremes(model, i, rows)))].join('\n')}\n`;
}

function markdownRow({ name, summary, paired }: ComparedModel): string {
  const own =
    summary === null || Number.isNaN(summary.mean_alignment)
      ? ['–', '–', '–']
      : [
          summary.mean_alignment.toFixed(3),
          `${summary.low.toFixed(3)}–${summary.high.toFixed(3)}`,
          `${Math.round(summary.exact_match * summary.n)} of ${summary.n}`,
        ];
  const against =
    paired === null
      ? ['', '', '', '', '']
      : [
          signed(paired.difference.mean),
          `${signed(paired.difference.low)} to ${signed(paired.difference.high)}`,
          ...[paired.wins, paired.ties, paired.losses].map(String),
        ];
  return `| ${[inline(name), ...own, ...against].join(' | ')} |`;
}

/** How many prompts are listed at either end. */
const NAMED = 5;

function extremes({ name }: ComparedModel, position: number, rows: ComparisonView['rows']): string[] {
  const gains = rows
    .flatMap(({ id, titles, scores }) => {
      const [before, after] = [scores[0] ?? null, scores[position] ?? null];
      return before === null || after === null ? [] : [{ id, titles, gain: after - before }];
    })
    .sort((a, b) => b.gain - a.gain);
  if (gains.length === 0) return [];
  const named = (title: string, prompts: typeof gains): string[] => {
    const lines = prompts.slice(0, NAMED).map((prompt) => {
      return `- ${signed(prompt.gain)} ${inline(`${prompt.id}: ${prompt.titles.join(' × ')}`)}`;
    });
    return ['', `${title}:${lines.length === 0 ? ' none.' : ''}`, ...(lines.length === 0 ? [] : ['', ...lines])];
  };
  return [
    ...['', `## ${inline(name)}`],
    ...named(
      'Largest gains',
      gains.filter(({ gain }) => gain > TIE),
    ),
    ...named('Largest losses', gains.filter(({ gain }) => gain < -TIE).reverse()),
  ];
}
