/** Says that the rewards are being computed, and for how long: a reward may loop until its time is over. */
import { Loader } from '@mantine/core';
import { useEffect, useState } from 'react';
import classes from './Task.module.css';

/** Most are there before one can read it. */
const SHOWN_AFTER_S = 1;

export function Computing() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => setSeconds(Math.floor((performance.now() - began) / 1000)), 1000);
    return () => clearInterval(timer);
  }, []);
  if (seconds < SHOWN_AFTER_S) return null;
  return (
    <p className={`soft ${classes.computing}`}>
      <Loader size="xs" color="gray" />
      <span role="status">Computing the rewards …</span>
      <span className="num">{seconds} s</span>
      {seconds >= 5 && <span>Does the reward loop? It is stopped at its time limit.</span>}
    </p>
  );
}
