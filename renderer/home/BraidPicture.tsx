/** The task at a glance: two texts in their colours, and the braid that the model should write. */
import classes from './Home.module.css';

const A = ['the', 'river', 'bends', 'past', 'the', 'mill'];
const B = ['nobody', 'had', 'told', 'her', 'about', 'snow'];

export function BraidPicture() {
  return (
    <dl className={`mono ${classes.picture}`}>
      <dt>A</dt>
      <dd className={classes.a}>{A.join(' ')}</dd>
      <dt>B</dt>
      <dd className={classes.b}>{B.join(' ')}</dd>
      <dt>braid</dt>
      <dd>
        {A.map((word, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
          <span key={i}>
            <span className={classes.a}>{word}</span> <span className={classes.b}>{B[i]}</span>{' '}
          </span>
        ))}
      </dd>
    </dl>
  );
}
