import { Tooltip } from '@mantine/core';
import { ago, fullDate } from './format.ts';

/** A time, relative, with the date on hover. */
export function When({ at }: { readonly at: number | null }) {
  if (at === null) return <span className="faint">–</span>;
  return (
    <Tooltip label={fullDate(at)}>
      <time dateTime={new Date(at).toISOString()}>{ago(at)}</time>
    </Tooltip>
  );
}
