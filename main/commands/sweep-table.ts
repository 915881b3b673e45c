/** The table of a sweep for the terminal, and for `--json`. */

import { largest } from '../lists.ts';
import type { SettingRow, SweepView } from '../services/sweeps/result.ts';
import { tableLines } from './table.ts';

/** The lines of the table; the clearly best setting has a star. */
export function sweepLines({ rows, seeds, scoreKind, threshold }: SweepView): readonly string[] {
  const most = largest(
    rows.flatMap(({ passRates }) => passRates.map(({ k }) => k)),
    0,
  );
  const headings = ['', 'setting', 'seeds', scoreKind ?? 'score', '± 95%', 'behind the leader', 'p'];
  const cells = rows
    .toSorted(byScore)
    .map((row) => [
      ...[row.best ? '*' : '', row.label, `${row.n}/${seeds.length}`],
      row.mean === null ? stateOf(row) : row.mean.toFixed(4),
      row.interval === null ? '' : (row.interval.high - row.interval.mean).toFixed(4),
      row.tied
        ? 'tied'
        : row.leads
          ? 'leads'
          : row.behind === null
            ? ''
            : `${row.behind.difference.mean.toFixed(4)}${stopped(row)}`,
      row.behind === null ? '' : row.behind.pCorrected.toPrecision(2),
      ...(most < 2 ? [] : [passCell(row)]),
    ]);
  const lines = tableLines([...headings, ...(most < 2 ? [] : ['pass@k over seeds'])], cells);
  const notes = [
    ...(most >= 2 && threshold !== null ? [`A record passes from ${threshold}.`] : []),
    ...(rows.length > 1 && !rows.some(({ best }) => best)
      ? [
          rows.some(({ behind }) => behind !== null)
            ? 'No setting is significantly better than all others (t-tests over seeds, corrected by Holm, level 0.05).'
            : 'Nothing was tested: it takes two seeds of two settings to show whether a lead is chance.',
        ]
      : []),
  ];
  return [...lines, ...notes];
}

function byScore(a: SettingRow, b: SettingRow): number {
  const rank = ({ stoppedAt }: SettingRow): number => stoppedAt ?? Number.POSITIVE_INFINITY;
  const value = ({ mean }: SettingRow): number => mean ?? Number.NEGATIVE_INFINITY;
  return Number(b.leads) - Number(a.leads) || rank(b) - rank(a) || value(b) - value(a) || a.setting - b.setting;
}

function stateOf({ trials }: SettingRow): string {
  return [...new Set(trials.map(({ state }) => state))].join(', ');
}

function stopped({ stoppedAt }: SettingRow): string {
  return stoppedAt === null ? '' : ` at step ${stoppedAt}`;
}

function passCell({ passRates }: SettingRow): string {
  return passRates.map(({ k, rate }) => `${k}: ${rate.toFixed(3)}`).join('  ');
}
