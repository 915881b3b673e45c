/** A sweep in a report. */
import type { SweepContent } from '../../main/api/contract/index.ts';
import { Screen } from '../components/Screen.tsx';
import { StateBadge } from '../components/StateBadge.tsx';
import { SweepResult } from '../experiments/Sweep.tsx';

export function SweepReport({ content: { sweep } }: { readonly content: SweepContent }) {
  return (
    <Screen title={sweep.name} about={<StateBadge state={sweep.state} />}>
      <SweepResult sweep={sweep} />
    </Screen>
  );
}
