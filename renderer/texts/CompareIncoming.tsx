/** A text of an import beside the one that it resembles: import it, keep the other, or keep both. */
import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Keep } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import classes from './TextDiff.module.css';
import { TextDiff } from './TextDiff.tsx';

export interface CompareIncomingProps {
  readonly importId: number;
  readonly position: number;
  readonly onDecide: (keep: Keep) => void;
  readonly onClose: () => void;
}

export function CompareIncoming({ importId, position, onDecide, onClose }: CompareIncomingProps) {
  const { data, error } = useQuery(
    api.texts.compareIncoming.queryOptions({ input: { importId, position }, gcTime: 0 }),
  );
  return (
    <Modal
      opened
      onClose={onClose}
      size={1080}
      title="Two similar texts"
      closeButtonProps={{ 'aria-label': 'Close the comparison' }}
    >
      {error !== null && <Failed what="These texts can't be compared" error={error} />}
      {data === undefined && error === null && <Loading what="both texts" />}
      {data !== undefined && <TextDiff comparison={data} names={['There already', 'To import']} />}
      <div className={classes.choices}>
        <span className="soft">If both are kept, they stay on one side of the split.</span>
        <Button variant="default" onClick={() => onDecide('earlier')}>
          Skip the new one
        </Button>
        <Button variant="default" onClick={() => onDecide('new')}>
          Replace by the new one
        </Button>
        <Button onClick={() => onDecide('both')}>Keep both</Button>
      </div>
    </Modal>
  );
}
