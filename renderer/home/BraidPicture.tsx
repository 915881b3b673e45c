/** The task in one picture: two texts in their colours, and the braid that the model is to write. */
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
          // biome-ignore lint/suspicious/noArrayIndexKey: the words never move
          <span key={i}>
            <span className={classes.a}>{word}</span> <span className={classes.b}>{B[i]}</span>{' '}
          </span>
        ))}
      </dd>
    </dl>
  );
}
