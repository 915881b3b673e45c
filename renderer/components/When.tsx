import { ago, fullDate } from './format.ts';

/** A relative time, with the full date as a tooltip. */
export function When({ at }: { readonly at: number | null }) {
  if (at === null) return <span className="faint">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullDate(at)}>
      {ago(at)}
    </time>
  );
}
