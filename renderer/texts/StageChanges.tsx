import type { StageChange } from '../../main/api/contract/index.ts';
import { counted, number } from '../components/format.ts';
import classes from './StageChanges.module.css';

export interface StageChangesProps {
  readonly stages: readonly StageChange[];
  /** Whether the choice has changed since. */
  readonly stale?: boolean;
}

/** How many texts each stage has, before and after. */
export function StageChanges({ stages, stale = false }: StageChangesProps) {
  return (
    <table className={`${classes.changes} num`} aria-busy={stale} data-stale={stale || undefined}>
      <caption>Texts per stage, before and after</caption>
      <thead>
        <tr>
          {stages.map(({ words }) => (
            <th key={words} scope="col">
              {counted(words, 'word')}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          {stages.map(({ words, before, after }) => (
            <td key={words} data-more={after > before || undefined} data-fewer={after < before || undefined}>
              {before === after ? number(after) : `${number(before)} → ${number(after)}`}
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}
