/** What is missing to resume a run, and how to get it back. */
import { Link } from '../components/Link.tsx';

export function Lacks({ lacks }: { readonly lacks: readonly string[] }) {
  return (
    <>
      {lacks.join('. ')}. Put it back where it was; <Link href="/curriculum">Make missing datasets</Link> restores what
      was made from texts for a stage.
    </>
  );
}
