/** What a comparison of the reply methods found, in one sentence. Pure. */
import type { MethodView, ReportView, SeedTable } from '../../main/api/contract/index.ts';
import { counted, signed } from '../components/format.ts';
import { type Difference, differences, mean, meanOverSeeds, modelLabel } from './report-rows.ts';
import { methodWords } from './words.ts';

export interface Finding {
  readonly sentence: string;
  /** Methods that aren't part of it, and other limits; empty: none. */
  readonly limits: string;
  /** good: one method is significantly best; open: nothing is decided; none: nothing was compared. */
  readonly kind: 'good' | 'open' | 'none';
}

type Methods = readonly Pick<MethodView, 'name' | 'newest'>[];
type Numbers = ReportView['numbers'];

/** The finding about the mean reward on held-out posts. */
export function findingOf(report: Pick<ReportView, 'numbers'> | null | undefined, methods: Methods): Finding {
  const done = methods.filter(({ newest }) => newest?.state === 'done').map(({ name }) => name);
  if (report === null || report === undefined) return { ...notCompared(methods, done), kind: 'none' };
  const { numbers } = report;
  const limits = limitsOf(numbers, methods, done);
  const row = numbers.rows.find(({ name }) => name === 'reward') ?? numbers.rows[0];
  const ranked = (row?.means ?? []).filter((one) => one.mean !== null).toSorted((a, b) => b.mean - a.mean);
  const [best, second] = ranked;
  if (row === undefined || best === undefined || second === undefined)
    return { kind: 'none', limits, sentence: 'The comparison has no rewards of two models to compare.' };
  const posts = `on ${counted(numbers.prompts, 'held-out post')}`;
  const base = numbers.models.some(({ name }) => name === 'baseline') ? 'baseline' : (numbers.models[0]?.name ?? '');
  const over = (against: string): Difference | null => differences(row.pairs, against, [best.model])[0] ?? null;
  const label = modelLabel(best.model);
  const reward = `mean reward ${mean(best.mean)}`;
  if (row.winner === best.model) {
    const against = best.model === base ? second.model : base;
    return {
      kind: 'good',
      limits,
      sentence: `${label} writes the best replies ${posts}: ${reward}, ${gain(over(against))} against ${modelLabel(against)}; it beats every other model significantly.`,
    };
  }
  const overBase = best.model === base ? null : over(base);
  // The one that comes next by its mean may be the surer loss: differences are taken prompt by prompt.
  const open = ranked.slice(1).find(({ model }) => over(model)?.significant !== true) ?? second;
  if (overBase?.significant === true && overBase.mean > 0)
    return {
      kind: 'good',
      limits,
      sentence: `${label} improves on ${modelLabel(base)} ${posts}: ${reward}, ${gain(overBase)}; its lead over ${modelLabel(open.model)}, ${gain(over(open.model))}, is not significant after correction.`,
    };
  if (best.model === base)
    return {
      kind: 'open',
      limits,
      sentence: `No method is significantly better than ${label} ${posts}: it has the highest ${reward}, and ${modelLabel(second.model)} comes next at ${mean(second.mean)}.`,
    };
  const differs = row.pairs.some(({ significant }) => significant);
  const start = differs
    ? `${label} has the highest ${reward} ${posts}`
    : `No model is significantly better than another ${posts}: ${label} has the highest ${reward}`;
  return {
    kind: 'open',
    limits,
    sentence: `${start}, but its difference from ${modelLabel(base)}, ${gain(overBase)}, can be chance.`,
  };
}

/** What the seeds say about the mean reward; null without it. */
export function seedsSentence({ seeds, rows }: SeedTable): string | null {
  const row = rows.find(({ name }) => name === 'reward');
  const ranked = (row?.models ?? []).toSorted(
    (a, b) => (b.mean ?? Number.NEGATIVE_INFINITY) - (a.mean ?? Number.NEGATIVE_INFINITY),
  );
  const [best, second] = ranked;
  if (row === undefined || best === undefined || second === undefined) return null;
  const says =
    row.winner === null
      ? 'has the highest mean reward, but not significantly higher than every other'
      : 'is significantly better than every other';
  const base = ranked.find(({ model }) => model === 'baseline');
  const against = base === undefined || base === best ? second : base;
  return `Over ${seeds.length} seeds, ${modelLabel(best.model)} ${says}: ${meanOverSeeds(best)} against ${meanOverSeeds(against)} of ${modelLabel(against.model)}.`;
}

/** `+0.120 [+0.080, +0.160]` */
function gain(difference: Difference | null): string {
  if (difference === null) return 'a difference that was not measured';
  const { mean: value, low, high } = difference;
  return `${signed(value, mean)} [${signed(low, mean)}, ${signed(high, mean)}]`;
}

function notCompared(methods: Methods, done: readonly MethodView['name'][]): Pick<Finding, 'sentence' | 'limits'> {
  const missing = methods.filter(({ name }) => !done.includes(name)).map(({ name }) => methodWords[name].label);
  if (done.length >= 2)
    return {
      sentence: `Nothing is compared yet: ${done.length} of ${methods.length} methods have a finished run.`,
      limits:
        missing.length === 0
          ? 'Compare the newest runs to see which is best.'
          : `Still missing: ${missing.join(', ')}.`,
    };
  return {
    sentence: 'Nothing is known yet about which method writes the best replies.',
    limits: `${done.length === 0 ? 'No method has a finished run' : `Only ${methodWords[done[0] ?? 'baseline'].label} has a finished run`}; a comparison needs two.`,
  };
}

function limitsOf(numbers: Numbers, methods: Methods, done: readonly MethodView['name'][]): string {
  const compared = new Set(numbers.models.map(({ name }) => name));
  const missing = methods.filter(({ name }) => !compared.has(name));
  const names = (some: readonly MethodView['name'][]): string => some.map((name) => methodWords[name].label).join(', ');
  const fresh = missing.map(({ name }) => name).filter((name) => done.includes(name));
  const without = missing.map(({ name }) => name).filter((name) => !done.includes(name));
  return [
    ...(without.length > 0 ? [`Without ${names(without)}: no finished run.`] : []),
    ...(fresh.length > 0 ? [`${names(fresh)} finished since; compare again.`] : []),
    '95% intervals; significance is corrected for all comparisons of the table.',
  ].join(' ');
}
