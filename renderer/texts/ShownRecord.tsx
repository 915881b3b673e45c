/** A line of a dataset: a pair of texts, the fields of another task's record, or what is wrong with it. */
import type { RecordView } from '../../main/api/contract/index.ts';
import { RecordCard } from './RecordCard.tsx';
import classes from './Records.module.css';

export function ShownRecord({ view }: { readonly view: RecordView }) {
  switch (view.kind) {
    case 'interleave':
      return <RecordCard record={view.record} />;
    case 'other':
      return <pre className={classes.other}>{view.json}</pre>;
    case 'fault':
      return (
        <p className={classes.fault}>
          <span className="mono">line {view.line}</span> {view.reason}
        </p>
      );
  }
}
