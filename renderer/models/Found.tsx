/** Models that other programs have on this machine, each with what Braid can do with it. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { FoundModel } from '../../main/api/contract/index.ts';
import { api, client } from '../api/client.ts';
import { Failed, Loading } from '../components/Feedback.tsx';
import { bytes } from '../components/format.ts';
import { foundWords, SOURCES } from './found-words.ts';
import classes from './Models.module.css';

type Added = Awaited<ReturnType<typeof client.models.addFound>>;

export function Found({ onAdded }: { readonly onAdded: (added: Added) => void }) {
  const { data, error } = useQuery(api.models.found.queryOptions());
  const add = useMutation({
    mutationFn: (path: string) => client.models.addFound({ path }),
    onSuccess: onAdded,
  });
  if (error !== null) return <Failed what="Other programs' models can't be listed" error={error} />;
  if (data === undefined) return <Loading what="the models of other programs" />;
  if (data.length === 0)
    return <p className="soft">Ollama, LM Studio, the Hugging Face cache and llama.cpp have no models here.</p>;
  return (
    <>
      <ul className={classes.found} aria-label="Models of other programs">
        {data.map((model) => (
          <FoundLine
            key={`${model.source} ${model.path}`}
            model={model}
            isAdding={add.isPending && add.variables === model.path}
            onAdd={() => add.mutate(model.path)}
          />
        ))}
      </ul>
      {add.error !== null && <Failed what="The model could not be added" error={add.error} />}
    </>
  );
}

interface FoundLineProps {
  readonly model: FoundModel;
  readonly isAdding: boolean;
  readonly onAdd: () => void;
}

function FoundLine({ model, isAdding, onAdd }: FoundLineProps) {
  const { name, source, path, problem, ref } = model;
  return (
    <li data-problem={problem !== null || undefined}>
      <div title={path}>
        <strong>{name}</strong> <span className="faint">{SOURCES[source]}</span>
        <p className="soft">
          {bytes(model.bytes)} · {foundWords(model)}
        </p>
      </div>
      {problem === null && (
        <Button
          size="compact-sm"
          variant="default"
          disabled={ref !== null}
          loading={isAdding}
          onClick={onAdd}
          aria-label={ref === null ? `Add ${name}` : `${name} is added`}
        >
          {ref === null ? 'Add' : 'Added'}
        </Button>
      )}
    </li>
  );
}
