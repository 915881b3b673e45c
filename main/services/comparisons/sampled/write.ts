/** A comparison on disk: report, numbers, completions, figures with their data. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeError } from '../../../io/atomic-write.ts';
import { csvText } from '../../../io/csv.ts';
import { svgToPng } from '../../figures/png.ts';
import type { HostPaths } from '../../workspace/paths.ts';
import type { ModelComparison } from './compare.ts';
import { comparisonFigures } from './figures.ts';
import { comparisonReport } from './report.ts';

export interface ComparisonFiles {
  readonly report: string;
  readonly numbers: string;
  readonly completions: string;
  readonly figures: readonly string[];
}

/** Writes everything into a folder, overwriting an earlier comparison. */
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
    figures: figures.map(({ name }) => join(folder, 'figures', `${name}.svg`)),
  };
  try {
    for (const part of ['figures', 'data']) mkdirSync(join(folder, part), { recursive: true });
    for (const [i, { name, svg, data }] of figures.entries()) {
      writeFileSync(join(folder, 'figures', `${name}.svg`), svg);
      writeFileSync(join(folder, 'figures', `${name}.png`), pictures[i] ?? '');
      writeFileSync(join(folder, 'data', `${name}.csv`), csvText(data));
    }
    writeFileSync(files.completions, completionLines(comparison));
    writeFileSync(files.numbers, `${JSON.stringify(numbersOf(comparison), null, 2)}\n`);
    writeFileSync(files.report, comparisonReport(comparison, figures));
  } catch (error) {
    throw writeError(error, folder, 'the comparison');
  }
  return files;
}

/** The comparison without its completions; field names as in `--json`. */
export function numbersOf({ options, dataset, prompts, backend, models, rows, rewardCost }: ModelComparison) {
  return {
    ...options,
    dataset,
    prompts,
    backend,
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
      answers.map(({ id, prompt, completions }, i) =>
        JSON.stringify({ model: name, id, prompt, completions, measures: prompts[i] }),
      ),
    )
    .map((line) => `${line}\n`)
    .join('');
}
