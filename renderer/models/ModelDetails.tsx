/** One model: its facts, memory needs and files, and how to remove it. */
import { Button, Code, CopyButton } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ModelDetail, ModelEntry } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes, compact, counted, score } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { Export } from './Export.tsx';
import { MemoryNeeds } from './MemoryNeeds.tsx';
import { ABANDONED } from './ModelList.tsx';
import classes from './Models.module.css';
import { Push } from './Push.tsx';
import { Remove } from './Remove.tsx';
import { Served, useServed } from './Served.tsx';
import { StagePlan } from './StagePlan.tsx';
import { TrainFrom } from './TrainFrom.tsx';

export function ModelDetails({ entry }: { readonly entry: ModelEntry }) {
  const { ref, kind, name, folder, deleted, abandoned, problem, heldOut } = entry;
  const { data, error, refetch } = useQuery(api.models.inspect.queryOptions({ input: { ref } }));
  const served = useServed(ref);
  const [removing, setRemoving] = useState(false);
  const [exporting, setExporting] = useState(false);
  const [pushing, setPushing] = useState(false);
  return (
    <Panel
      title={name}
      actions={
        <>
          {problem === null && (
            <Button
              component={Link}
              variant="default"
              href={`/compare?${new URLSearchParams(kind === 'checkpoint' ? { model: ref } : { baseline: ref })}`}
            >
              Compare
            </Button>
          )}
          {problem === null && (
            <Button component={Link} variant="default" href={`/playground?${new URLSearchParams({ model: ref })}`}>
              Try in Playground
            </Button>
          )}
          {problem === null && (
            <Button component={Link} variant="default" href={`/playground?${new URLSearchParams({ chat: ref })}`}>
              Chat
            </Button>
          )}
          {problem === null && <TrainFrom entry={entry} />}
          {problem === null && served.model === undefined && (
            <Button variant="default" loading={served.start.isPending} onClick={() => served.start.mutate()}>
              Serve
            </Button>
          )}
          {problem === null && (
            <Button variant="default" onClick={() => setExporting(true)}>
              Export …
            </Button>
          )}
          {problem === null && kind !== 'bundled' && (
            <Button variant="default" onClick={() => setPushing(true)}>
              Push to the Hub …
            </Button>
          )}
          {kind !== 'bundled' && !deleted && (
            <Button variant="default" onClick={() => setRemoving(true)}>
              {kind === 'imported' ? 'Remove …' : 'Delete …'}
            </Button>
          )}
        </>
      }
    >
      <Place folder={folder} />
      {abandoned && <p className="soft">{ABANDONED}</p>}
      <Served served={served} />
      {heldOut !== null && (
        <p className="num">
          Held-out score <b>{score(heldOut)}</b>
        </p>
      )}
      {error !== null && <Failed what="The model can't be inspected" error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading what="the model" />}
      {data !== undefined && <Read detail={data} />}
      {exporting && <Export entry={entry} onClose={() => setExporting(false)} />}
      {pushing && <Push entry={entry} onClose={() => setPushing(false)} />}
      <Remove entry={entry} opened={removing} onClose={() => setRemoving(false)} />
    </Panel>
  );
}

function Place({ folder }: { readonly folder: string }) {
  const { data: info } = useQuery(api.app.info.queryOptions());
  const reveal = useMutation({ mutationFn: () => client.app.reveal({ path: folder }) });
  return (
    <div className={classes.place}>
      <Code>{folder}</Code>
      <CopyButton value={folder}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="subtle" onClick={copy}>
            {copied ? 'Copied' : 'Copy path'}
          </Button>
        )}
      </CopyButton>
      {info?.dialogs === true && (
        <Button size="compact-xs" variant="subtle" onClick={() => reveal.mutate()}>
          Show folder
        </Button>
      )}
      {reveal.error !== null && <Failed error={reveal.error} />}
    </div>
  );
}

function Read({ detail: { entry, problem, facts, memory, files } }: { readonly detail: ModelDetail }) {
  return (
    <>
      {problem !== null && (
        <div className={classes.problem} role="note">
          <p>{problem.message}</p>
          {problem.remedy !== null && <p className="soft">{problem.remedy}</p>}
        </div>
      )}
      {facts !== null && <Facts facts={facts} />}
      {memory !== null && <MemoryNeeds memory={memory} adapter={facts?.adapter != null} />}
      {facts !== null && <StagePlan model={entry.ref} />}
      {files.length > 0 && (
        <>
          <h3 className={classes.part}>Files</h3>
          <table className={classes.files}>
            <tbody>
              {files.map((file) => (
                <tr key={file.name}>
                  <th scope="row" className="mono">
                    {file.name}
                  </th>
                  <td className="mono">{bytes(file.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}

function Facts({ facts }: { readonly facts: NonNullable<ModelDetail['facts']> }) {
  const { adapter, base } = facts;
  const rows: readonly (readonly [string, string])[] = [
    ['Architecture', `${facts.architecture}, ${counted(facts.layers, 'layer')}, width ${facts.width}`],
    ['Parameters', `${compact(facts.parameters)} (${facts.parameters.toLocaleString('en')})`],
    ...(adapter === null
      ? []
      : ([
          ['Adapter', `LoRA rank ${adapter.rank}, alpha ${adapter.alpha}, ${compact(adapter.parameters)} parameters`],
          ['Adapted layers', adapter.targets.join(', ')],
          ['Base model', base ?? ''],
        ] as const)),
    ['Attention', `${facts.heads} heads, ${facts.keyValueHeads} key-value heads`],
    ['Vocabulary', `${facts.vocabulary.toLocaleString('en')} tokens${facts.tiedEmbeddings ? ', tied embeddings' : ''}`],
    ['Context', `${facts.context.toLocaleString('en')} tokens`],
    ['Stored as', facts.dtypes.join(', ')],
    ...(facts.quantised === undefined ? [] : ([['Training from it', facts.quantised]] as const)),
    ...(facts.unused === undefined ? [] : ([['Other tensors', facts.unused]] as const)),
    ['Chat template', facts.chatTemplate ? 'yes' : 'none: prompts are used as they are'],
  ];
  return (
    <dl className={classes.facts}>
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
