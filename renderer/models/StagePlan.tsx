/** What LoRA takes by stage of the curriculum, in this machine's memory or another's: planned from the config alone. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Segments } from '../components/Segments.tsx';
import classes from './Models.module.css';

const MEMORIES = [
  { value: 'here', label: 'This machine' },
  ...['12', '16', '24', '48'].map((gib) => ({ value: gib, label: `${gib} GiB` })),
];

const HEAD = ['Words', 'Weights', 'Optimiser', 'Sampling', 'Training', 'Total', ''] as const;

export function StagePlan({ model }: { readonly model: string }) {
  const [memory, setMemory] = useState('here');
  const memoryGib = memory === 'here' ? null : Number(memory);
  const { data, error } = useQuery(
    api.models.plan.queryOptions({ input: { ref: model, memoryGib }, placeholderData: keepPreviousData }),
  );
  if (error !== null) return <Failed what="The memory can't be planned" error={error} />;
  if (data === undefined) return <Loading what="the memory plan" />;
  return (
    <>
      <h3 className={classes.part}>LoRA by stage, GiB</h3>
      <Segments aria-label="Memory to plan with" data={MEMORIES} value={memory} onChange={setMemory} />
      <table className={classes.plan}>
        <thead>
          <tr>
            {HEAD.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.stages.map(({ words, weights, optimiser, cache, sampled, activations, trained, total, fits }) => (
            <tr key={words} data-fits={fits}>
              <th scope="row">{words}</th>
              <td>{gib(weights)}</td>
              <td>{gib(optimiser)}</td>
              <td>
                {gib(cache)} <span className="faint">×{sampled}</span>
              </td>
              <td>
                {gib(activations)} <span className="faint">×{trained}</span>
              </td>
              <td>{gib(total)}</td>
              <td className={classes.fits}>{fits ? 'fits' : 'too large'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="faint">
        Rank 16, 16 completions of one prompt at their longest; × says how many are at work at once in{' '}
        {gib(data.budget)} GiB
        {data.weightBytes === 2 ? '; weights as bfloat16, on the native backend' : ''}.
      </p>
    </>
  );
}

function gib(bytes: number): string {
  const value = bytes / 2 ** 30;
  return value < 0.05 ? '< 0.1' : value.toFixed(1);
}
