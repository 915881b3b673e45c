/** A comparison that `braid compare` wrote, as that of the reply methods, in a report. */
import type { RepliesContent } from '../../main/api/contract/index.ts';
import { counted } from '../components/format.ts';
import { Panel, Screen } from '../components/Screen.tsx';
import { When } from '../components/When.tsx';
import { ReportCharts } from '../replies/ReportCharts.tsx';
import { Differences, ReportTable } from '../replies/ReportTables.tsx';

export function RepliesReport({ content: { report } }: { readonly content: RepliesContent }) {
  const { numbers, at } = report;
  const isReplies = numbers.task === 'reply';
  return (
    <Screen
      title={isReplies ? 'Comparison of replies' : `Comparison on ${numbers.task}`}
      about={
        <span className="num">
          {counted(numbers.prompts, isReplies ? 'post' : 'prompt')},{' '}
          {isReplies ? counted(numbers.samples, 'reply', 'replies') : counted(numbers.samples, 'completion')} each,{' '}
          <When at={at} />
        </span>
      }
    >
      <Panel>
        <p className="soft">
          Means with 95% intervals; a winner is named only where it beats all others significantly.
        </p>
        <ReportTable report={report} />
      </Panel>
      <Panel title="Charts">
        <ReportCharts report={report} />
      </Panel>
      <Panel title="Differences">
        <Differences report={report} />
      </Panel>
    </Screen>
  );
}
