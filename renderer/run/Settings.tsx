/** A run's settings as tables: those that differ from the defaults, and the others on demand. */
import { counted } from '../components/format.ts';
import { settingText } from '../runs/setting-text.ts';
import classes from './Run.module.css';
import { type Setting, splitByDefault } from './settings-by-default.ts';

export interface SettingsProps {
  readonly entries: readonly Setting[];
  readonly defaults: ReadonlyMap<string, unknown>;
  /** Whether the others are shown from the start. */
  readonly isOpen: boolean;
}

export function Settings({ entries, defaults, isOpen }: SettingsProps) {
  const [changed, usual] = splitByDefault(entries, defaults);
  return (
    <>
      {changed.length > 0 && <Table entries={changed} defaults={defaults} />}
      {usual.length > 0 && (
        <details open={isOpen || changed.length === 0} className={classes.usual}>
          <summary>{counted(usual.length, 'setting at its default', 'settings at their defaults')}</summary>
          <Table entries={usual} defaults={null} />
        </details>
      )}
    </>
  );
}

interface TableProps {
  readonly entries: readonly Setting[];
  /** Shown beside values that differ from them; null: none. */
  readonly defaults: ReadonlyMap<string, unknown> | null;
}

function Table({ entries, defaults }: TableProps) {
  return (
    <div className={classes.settings}>
      <table>
        <tbody>
          {entries.map(([field, value]) => (
            <tr key={field}>
              <th scope="row" className="mono">
                {field}
              </th>
              <td className="mono">
                {settingText(value)}
                {defaults?.has(field) && <span className="faint"> default {settingText(defaults.get(field))}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
