/** One pair: its two fragments, each in its strand's colour, and the target that interleaves them. */
import { UnstyledButton } from '@mantine/core';
import { memo, useMemo, useState } from 'react';
import type { InterleaveRecord } from '../../main/api/contract/index.ts';
import classes from './Records.module.css';
import { braided, promptParts } from './strands.ts';

/** Words of a fragment or target shown before the record is expanded. */
const FOLD = 80;

export const RecordCard = memo(function RecordCard({ record }: { readonly record: InterleaveRecord }) {
  const [open, setOpen] = useState(false);
  const [prompt, setPrompt] = useState(false);
  const words = useMemo(() => braided(record.fragment_a, record.fragment_b), [record]);
  const long = words.length > FOLD;
  const cut = (text: string): string => {
    if (open || !long) return text;
    return `${text.split(/\s+/u, FOLD / 2).join(' ')} …`;
  };
  return (
    <article className={classes.record} aria-label={`Record ${record.id}`}>
      <header>
        <span className="mono faint">{record.id}</span>
        <span className={classes.a}>{record.title_a}</span>
        <span className="faint" aria-hidden="true">
          ×
        </span>
        <span className={classes.b}>{record.title_b}</span>
        <span className={classes.gap} />
        {long && (
          <UnstyledButton className={classes.more} aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Show less' : `All ${words.length} words`}
          </UnstyledButton>
        )}
        <UnstyledButton className={classes.more} aria-expanded={prompt} onClick={() => setPrompt(!prompt)}>
          {prompt ? 'Hide the prompt' : 'Prompt'}
        </UnstyledButton>
      </header>
      <dl>
        <dt>A</dt>
        <dd className={`own-direction ${classes.a}`}>{cut(record.fragment_a)}</dd>
        <dt>B</dt>
        <dd className={`own-direction ${classes.b}`}>{cut(record.fragment_b)}</dd>
        <dt>Target</dt>
        <dd className="own-direction">
          {(open ? words : words.slice(0, FOLD)).map(({ strand, text }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: words repeat; their position is their identity
            <span key={i} className={classes[strand]}>
              {text}{' '}
            </span>
          ))}
          {long && !open && '…'}
        </dd>
        {prompt && (
          <>
            <dt>Prompt</dt>
            <dd className={`own-direction ${classes.prompt}`}>
              {promptParts(record.prompt, record.fragment_a, record.fragment_b).map(({ strand, text }, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
                <span key={i} className={strand === null ? 'soft' : classes[strand]}>
                  {text}
                </span>
              ))}
            </dd>
          </>
        )}
      </dl>
    </article>
  );
});
