/** The replies of all compared models to one post, side by side; the next post, the previous one, and a search. */

import { Button, CloseButton, TextInput } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import type { ModelReplies } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { PlainButton } from '../components/PlainButton.tsx';
import { Panel } from '../components/Screen.tsx';
import { visible } from '../components/visible.ts';
import { useKeys } from '../frame/keys.tsx';
import { mean, modelLabel } from './report-rows.ts';
import classes from './SideBySide.module.css';

export function SideBySide() {
  const [search, setSearch] = useState('');
  const [at, setAt] = useState(0);
  const wanted = useDeferredValue(search.trim());
  const input = { at, ...(wanted !== '' && { search: wanted }) };
  const { data, error, refetch } = useQuery(
    api.replies.posts.queryOptions({ input, placeholderData: keepPreviousData }),
  );
  const last = (data?.found ?? 1) - 1;
  useKeys(
    useMemo(
      () => [
        { key: 'j', label: 'Next post', run: () => setAt((place) => Math.min(last, place + 1)) },
        { key: 'k', label: 'Previous post', run: () => setAt((place) => Math.max(0, place - 1)) },
      ],
      [last],
    ),
  );
  if (data === null) return null;
  const find = (text: string): void => {
    setSearch(text);
    setAt(0);
  };
  const actions = (
    <>
      <TextInput
        w={220}
        aria-label="Search posts and replies"
        placeholder="Search posts and replies"
        leftSection={<IconSearch size={14} />}
        value={search}
        onChange={({ currentTarget }) => find(currentTarget.value)}
        rightSection={search !== '' && <CloseButton size="sm" aria-label="Clear the search" onClick={() => find('')} />}
      />
      <Button variant="default" aria-label="Previous post" disabled={at === 0} onClick={() => setAt(at - 1)}>
        <IconChevronLeft size={14} aria-hidden="true" />
      </Button>
      <Button variant="default" aria-label="Next post" disabled={at >= last} onClick={() => setAt(at + 1)}>
        <IconChevronRight size={14} aria-hidden="true" />
      </Button>
    </>
  );
  return (
    <Panel title="Replies side by side" actions={actions}>
      {error !== null && <Failed what="The replies can't be shown" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the replies" />}
      {data !== undefined && data.post === null && <p className="soft">No post or reply contains “{wanted}”.</p>}
      {data !== undefined && data.post !== null && (
        <>
          <p className="soft num" role="status">
            Post {number(data.at + 1)} of {number(data.found)}
            {data.found < data.total && ` found, ${number(data.total)} in all`}
          </p>
          <div className={classes.post}>
            <blockquote className="own-direction">{visible(data.post.text)}</blockquote>
            {data.post.human !== null && (
              <p className="own-direction">
                <span className="soft">Human reply:</span> {visible(data.post.human)}
              </p>
            )}
          </div>
          <div className={classes.models}>
            {data.post.models.map((model) => (
              <Model key={`${data.post?.id} ${model.model}`} model={model} />
            ))}
          </div>
        </>
      )}
    </Panel>
  );
}

/** Replies that are shown at first. */
const SHOWN = 3;

function Model({ model: { model, replies, measures } }: { readonly model: ModelReplies }) {
  const [all, setAll] = useState(false);
  const { reward = null, set_diversity: diversity = null } = measures;
  return (
    <section className={classes.model} aria-label={`Replies of ${modelLabel(model)}`}>
      <h3>{modelLabel(model)}</h3>
      <p className="soft num">
        mean reward {mean(reward)}
        {diversity !== null && `, diversity ${mean(diversity)}`}
      </p>
      <ol>
        {(all ? replies : replies.slice(0, SHOWN)).map((reply, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: replies may repeat; their position is their identity
          <li key={i} className="own-direction">
            {reply === '' ? <span className="faint">empty</span> : visible(reply)}
          </li>
        ))}
      </ol>
      {replies.length > SHOWN && (
        <PlainButton className={classes.more} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${replies.length}`}
          <span className="visually-hidden"> replies of {modelLabel(model)}</span>
        </PlainButton>
      )}
    </section>
  );
}
