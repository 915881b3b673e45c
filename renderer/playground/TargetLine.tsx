import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../api/client.ts';
import { Aligned } from '../components/Aligned.tsx';
import { Failed } from '../components/Feedback.tsx';
import classes from './Playground.module.css';
import type { Request } from './use-answers.ts';

/** The exact target, or what is wrong with the texts. */
export function TargetLine({ request }: { readonly request: Extract<Request, { kind: 'texts' }> }) {
  const { a, b, words, template } = request;
  const [input] = useDebouncedValue(
    useMemo(() => ({ a, b, words, template }), [a, b, words, template]),
    150,
  );
  const { data, error } = useQuery(api.playground.prompt.queryOptions({ input, placeholderData: keepPreviousData }));
  if (error !== null) return <Failed what="These texts can't be made into a prompt" error={error} />;
  if (data === undefined) return null;
  return (
    <div className={classes.target}>
      <span className="soft">Target</span>
      <Aligned words={data.alignment.words} label="Target" />
    </div>
  );
}
