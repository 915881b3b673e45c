/** The memory that LoRA needs for each curriculum stage, on this machine or another, planned from the config alone. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { gibibytes } from '../components/format.ts';
import { Segments } from '../components/Segments.tsx';
import classes from './Models.module.css';

const MEMORIES = [
  { value: 'here', label: 'This machine' },
  ...['12', '16', '24', '48'].map((gib) => ({ value: gib, label: `${gib} GiB` })),
];

const HEAD = ['Words', 'Weights', 'Optimiser', 'Sampling', 'Training', 'Total', ''] as const;

/** What the plan is for. */
const WHERE = {
  wasm: ' on the wasm backend',
  native: ' on the native backend',
  'native-gpu': ' of the GPU, on the native backend',
  webgpu: ' of the GPU, on the webgpu backend',
  'webgpu-software': ' on the webgpu backend',
} as const;

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
              <td>{gibibytes(weights)}</td>
              <td>{gibibytes(optimiser)}</td>
              <td>
                {gibibytes(cache)} <span className="faint">×{sampled}</span>
              </td>
              <td>
                {gibibytes(activations)} <span className="faint">×{trained}</span>
              </td>
              <td>{gibibytes(total)}</td>
              <td className={classes.fits}>{fits ? 'fits' : 'too large'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="faint">
        Rank 16, 16 completions per prompt at full length; × is how many are processed at once in{' '}
        {gibibytes(data.budget)} GiB{WHERE[data.device]}
        {data.weightBytes < 4 ? `; frozen weights in ${8 * data.weightBytes} bits` : ''}.
      </p>
    </>
  );
}
