import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import classes from './Replies.module.css';
import type { Check } from './words.ts';

const icons = { OK: IconCircleCheck, WARN: IconAlertTriangle, FAIL: IconCircleX } as const;

/** A list of checks, each with its verdict as a word and an icon. */
export function Checks({ checks }: { readonly checks: readonly Check[] }) {
  return (
    <ul className={classes.checks}>
      {checks.map(({ verdict, name, detail, next = null }) => {
        const Icon = icons[verdict];
        return (
          <li key={name} data-verdict={verdict}>
            <Icon size={14} aria-hidden="true" />
            <b className="mono">{verdict}</b>
            <span>
              <strong>{name}</strong>: {detail}
              {next !== null && (
                <span className="soft">
                  {/[.!?]$/.test(detail) ? ' ' : '. '}
                  {next}
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
