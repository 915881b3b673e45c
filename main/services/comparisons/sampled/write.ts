/** A comparison on disk: report, numbers, completions, figures with their data. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { csvText } from '../../../io/csv.ts';
import { writeFilesAtomic } from '../../../io/write-files.ts';
import { svgToPng } from '../../figures/png.ts';
import type { HostPaths } from '../../workspace/paths.ts';
import type { ModelComparison } from './compare.ts';
import { comparisonFigures, FIGURE_NAMES } from './figures.ts';
import { comparisonReport } from './report.ts';

export interface ComparisonFiles {
  readonly report: string;
  readonly numbers: string;
  readonly completions: string;
  readonly figures: readonly string[];
}

/** Replaces an earlier comparison in a folder: all of it or nothing. The user's other files there are kept. */
export async function writeComparison(
  comparison: ModelComparison,
  folder: string,
  paths: Pick<HostPaths, 'resources'>,
): Promise<ComparisonFiles> {
  const figures = comparisonFigures(comparison.models, comparison.rows);
  const pictures = await Promise.all(figures.map(({ svg }) => svgToPng(svg, paths)));
  const files = {
    report: join(folder, 'report.md'),
    numbers: join(folder, 'comparison.json'),
    completions: join(folder, 'completions.jsonl'),
    figures: figures.map(({ name }) => figureFiles(folder, name).svg),
  };
  writeFilesAtomic([
    ...figures.flatMap(({ name, svg, data }, i) => {
      const places = figureFiles(folder, name);
      return [
        { path: places.svg, content: svg },
        { path: places.png, content: pictures[i] ?? '' },
        { path: places.data, content: csvText(data) },
      ];
    }),
    { path: files.completions, content: completionLines(comparison) },
    { path: files.report, content: comparisonReport(comparison, figures) },
    { path: files.numbers, content: `${JSON.stringify(numbersOf(comparison), null, 2)}\n` },
  ]);
  // Of an earlier comparison: the app would show them as this one's.
  const absent = FIGURE_NAMES.filter((name) => !figures.some((figure) => figure.name === name));
  for (const name of absent) for (const path of Object.values(figureFiles(folder, name))) rmSync(path, { force: true });
  return files;
}

function figureFiles(folder: string, name: string) {
  return {
    svg: join(folder, 'figures', `${name}.svg`),
    png: join(folder, 'figures', `${name}.png`),
    data: join(folder, 'data', `${name}.csv`),
  };
}

/** The comparison without its completions; field names as in `--json`. */
export function numbersOf({
  options: { better: _, ...options },
  dataset,
  prompts,
  backend,
  models,
  rows,
  rewardCost,
  relevanceModel,
}: ModelComparison) {
  return {
    ...options,
    dataset,
    prompts,
    backend,
    ...(relevanceModel !== null && { relevance_model: relevanceModel }),
    models: models.map(({ name, askedAs, terminated, seconds }) => ({
      name,
      ...(askedAs !== null && { asked_as: askedAs }),
      terminated,
      seconds,
    })),
    rows: rows.map(({ measure, ...rest }) => ({ ...measure, ...rest })),
    ...(rewardCost !== null && { reward_cost: rewardCost }),
  };
}

function completionLines({ models }: ModelComparison): string {
  return models
    .flatMap(({ name, answers, prompts }) =>
      answers.map(({ id, prompt, messages, completions }, i) =>
        JSON.stringify({ model: name, id, prompt, messages, completions, measures: prompts[i] }),
      ),
    )
    .map((line) => `${line}\n`)
    .join('');
}
