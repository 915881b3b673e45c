/** A comparison in a report. */
import { useState } from 'react';
import type { ComparisonContent } from '../../main/api/contract/index.ts';
import { Charts, type GainRange } from '../compare/Charts.tsx';
import { Prompts } from '../compare/Prompts.tsx';
import { Result } from '../compare/Result.tsx';
import { Screen } from '../components/Screen.tsx';

interface ComparisonReportProps {
  readonly content: ComparisonContent;
  readonly hasTexts: boolean;
}

export function ComparisonReport({ content: { view }, hasTexts }: ComparisonReportProps) {
  const [chosen, setChosen] = useState(1);
  const [gains, setGains] = useState<GainRange | null>(null);
  const { models, prompts, metric } = view;
  return (
    <Screen
      title="Comparison"
      about={
        <span className="num">
          {prompts.n} held-out prompts of {prompts.datasets.join(', ')}, seed {prompts.seed}, prompt set{' '}
          <span className="mono">{prompts.hash.slice(0, 8)}</span>
        </span>
      }
    >
      <Result models={models} metric={metric} verdict={view.verdict} chosen={chosen} onChoose={setChosen} />
      <Charts view={view} chosen={chosen} gains={gains} onGains={setGains} />
      {hasTexts && <Prompts view={view} chosen={chosen} gains={gains} onGains={setGains} />}
    </Screen>
  );
}
