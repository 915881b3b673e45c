import { IconAlertTriangle, IconCircleCheck, IconInfoCircle, IconTrendingDown } from '@tabler/icons-react';
import type { Verdict } from '../../main/api/contract/index.ts';
import classes from './Run.module.css';

const icons = { good: IconCircleCheck, quiet: IconInfoCircle, warn: IconAlertTriangle, bad: IconTrendingDown } as const;

/** The verdict on the training signal: what is observed, whether it matters, what to do. */
export function VerdictBar({ verdict: { tone, title, sentences, remedy } }: { readonly verdict: Verdict }) {
  const Icon = icons[tone];
  return (
    <section className={classes.verdict} data-tone={tone} aria-label="Verdict on the signal">
      <Icon size={16} aria-hidden="true" />
      <p>
        <strong>{title}:</strong> {sentences.join(' ')}
        {remedy !== null && <span className={classes.remedy}> {remedy}</span>}
      </p>
    </section>
  );
}
