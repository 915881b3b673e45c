/** The way from texts to a trained model, where there are no runs yet. */
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import classes from './Home.module.css';

const steps = [
  { href: '/texts', title: 'Add texts', says: 'Load the bundled texts, or import your own.' },
  {
    href: '/curriculum',
    title: 'Plan a curriculum',
    says: 'Stages from 10 words up; their datasets are made for you.',
  },
  { href: '/runs', title: 'Watch a run', says: 'Its reward, and its best and worst completions.' },
  { href: '/compare', title: 'Compare checkpoints', says: 'Against the baseline, on held-out prompts.' },
] as const;

export function FirstSteps() {
  return (
    <Panel title="From texts to a trained model">
      <ol className={classes.steps}>
        {steps.map(({ href, title, says }) => (
          <li key={href}>
            <Link href={href}>{title}</Link>
            <span className="soft">{says}</span>
          </li>
        ))}
      </ol>
      <p className="soft">
        Something else to teach? <Link href="/tasks">Write a reward of your own</Link> from a template, or{' '}
        <Link href="/replies">train short replies</Link> to posts.
      </p>
    </Panel>
  );
}
