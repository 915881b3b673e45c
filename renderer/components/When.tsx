import { useContext } from 'react';
import { ago, fullDate } from './format.ts';
import { IsReport } from './is-report.ts';

/** A relative time, with the full date as a tooltip; in a report, which is read later, the date. */
export function When({ at }: { readonly at: number | null }) {
  const isReport = useContext(IsReport);
  if (at === null) return <span className="faint">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullDate(at)}>
      {isReport ? fullDate(at) : ago(at)}
    </time>
  );
}
