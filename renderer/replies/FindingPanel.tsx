/** What is known so far, in one sentence: the first thing on the screen. */
import { useQuery } from '@tanstack/react-query';
import type { MethodView } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Panel } from '../components/Screen.tsx';
import { findingOf, seedsSentence } from './finding.ts';
import classes from './Replies.module.css';

export function FindingPanel({ methods }: { readonly methods: readonly MethodView[] }) {
  const { data: report } = useQuery(api.replies.report.queryOptions());
  const { data: table } = useQuery(api.replies.overSeeds.queryOptions());
  if (report === undefined) return null;
  const over = table == null ? null : seedsSentence(table);
  const { sentence, limits, kind } = findingOf(report, methods);
  return (
    <Panel className={classes.finding ?? ''}>
      <p data-kind={kind}>{sentence}</p>
      {over !== null && <p>{over}</p>}
      <p className="soft">{limits}</p>
    </Panel>
  );
}
