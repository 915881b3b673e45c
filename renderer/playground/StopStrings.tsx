/** Texts that end an answer, one a line; while there are none, those that a model was trained with do. */

import { useId, useState } from 'react';
import { beginning } from '../components/beginning.ts';
import classes from './Playground.module.css';

export interface StopStringsProps {
  readonly stop: readonly string[];
  readonly onStop: (stop: string[]) => void;
}

export function StopStrings({ stop, onStop }: StopStringsProps) {
  const id = useId();
  // As it is typed: an empty line isn't a string yet.
  const [text, setText] = useState('');
  return (
    <span className={classes.template}>
      <label htmlFor={id}>Stop at, one a line</label>
      <textarea
        id={id}
        rows={1}
        className={`box ${classes.stops}`}
        placeholder="as trained"
        value={linesOf(text).join('\n') === stop.join('\n') ? text : stop.join('\n')}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          onStop(linesOf(currentTarget.value));
        }}
      />
    </span>
  );
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => beginning(line, 200)).slice(0, 8);
}
