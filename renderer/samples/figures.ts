/** The figures of a completion that the host names, in words. Pure. */
import type { SampleFacts, ShownColumn } from '../../main/api/contract/index.ts';
import { counted, number, signed } from '../components/format.ts';

export interface Figure {
  readonly name: string;
  readonly text: string;
  readonly title?: string;
}

/** Such as `adv +0.250` and `12 tokens`; without those that the sample doesn't have. */
export function figuresOf(columns: readonly ShownColumn[], sample: SampleFacts): readonly Figure[] {
  const values: Readonly<Record<string, unknown>> = { ...sample };
  return columns.flatMap((column) => {
    const value = values[column.name];
    if (typeof value !== 'number' || Number.isNaN(value)) return [];
    const { name, label, title } = column;
    const words = label === undefined ? sized(column, value) : `${label} ${sized(column, value)}`;
    return [{ name, text: words, ...(title !== undefined && { title }) }];
  });
}

function sized({ kind, unit, signed: isSigned }: ShownColumn, value: number): string {
  if (kind === 'whole' && unit !== undefined) return counted(value, unit);
  const size = isSigned ? signed(value) : number(value);
  return unit === undefined ? size : `${size} ${unit}`;
}
