/** The near duplicates of the corpus, one pair after the other: keep one of the two, or both. */
import { Button, Modal } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SimilarTexts } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import classes from './TextDiff.module.css';
import { TextDiff } from './TextDiff.tsx';

export function SimilarDialog({ onClose }: { readonly onClose: () => void }) {
  const [at, setAt] = useState(0);
  const { data, error } = useQuery(api.texts.similar.queryOptions());
  const place = Math.min(at, Math.max(0, (data?.length ?? 1) - 1));
  const pair = data?.[place];
  return (
    <Modal opened onClose={onClose} size={1080} title="Similar texts" closeButtonProps={{ 'aria-label': 'Close' }}>
      {error !== null && <Failed what="The texts can't be compared" error={error} />}
      {data === undefined && error === null && <Loading what="similar texts" />}
      {data?.length === 0 && (
        <Empty title="No similar texts">
          <p className="soft">No two texts repeat each other, except those that you keep on purpose.</p>
        </Empty>
      )}
      {data !== undefined && pair !== undefined && (
        <Pair
          key={`${pair.first.id} ${pair.second.id}`}
          {...{ pair }}
          place={`${number(place + 1)} of ${number(data.length)}`}
          onPrevious={place > 0 ? () => setAt(place - 1) : null}
          onNext={place < data.length - 1 ? () => setAt(place + 1) : null}
        />
      )}
    </Modal>
  );
}

interface PairProps {
  readonly pair: SimilarTexts;
  readonly place: string;
  readonly onPrevious: (() => void) | null;
  readonly onNext: (() => void) | null;
}

function Pair({ pair: { first, second, similarity }, place, onPrevious, onNext }: PairProps) {
  const input = { first: first.id, second: second.id };
  const { data, error } = useQuery(api.texts.compare.queryOptions({ input }));
  const resolve = useMutation(api.texts.resolve.mutationOptions());
  const decide = (keep: 'first' | 'second' | 'both') => () => resolve.mutate({ ...input, keep });
  const apart = data !== undefined && data.first.side !== null && data.second.side !== null;
  return (
    <>
      <p>
        <strong className="num">Pair {place}</strong>: {Math.round(similarity * 100)}% of the shorter text is in the
        other one.
      </p>
      {error !== null && <Failed what="These texts can't be compared" error={error} />}
      {data === undefined && error === null && <Loading what="both texts" />}
      {data !== undefined && <TextDiff comparison={data} names={['First', 'Second']} />}
      {apart && data.first.side !== data.second.side && (
        <p role="note">
          One is for training and the other is held out: results on it are better than on unknown texts. Keep one.
        </p>
      )}
      {resolve.error !== null && <Failed what="Nothing was changed" error={resolve.error} />}
      <div className={classes.choices}>
        <span>
          <Button variant="default" disabled={onPrevious === null} onClick={() => onPrevious?.()}>
            Previous pair
          </Button>{' '}
          <Button variant="default" disabled={onNext === null} onClick={() => onNext?.()}>
            Next pair
          </Button>
        </span>
        <Button variant="default" disabled={resolve.isPending} onClick={decide('first')}>
          Keep the first
        </Button>
        <Button variant="default" disabled={resolve.isPending} onClick={decide('second')}>
          Keep the second
        </Button>
        <Button disabled={resolve.isPending} onClick={decide('both')}>
          Keep both
        </Button>
      </div>
      <p className="soft">The text that isn't kept is deleted. Two that are kept stay on one side of the split.</p>
    </>
  );
}
