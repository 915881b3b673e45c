/** The shell scripts around a server's command: who watches it here, and who watches it on another host. */

/** A word of a shell's line. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Runs a command until it ends, and notes how it ended; ends it when nobody has used it, or after its time. It needs no
 * Braid: the app may be closed. It leads a process group, so that everything the command started can be ended. A long gap
 * between two looks means that the machine slept, and a run on it, too: the idle time starts again, as the run had no
 * chance to note its use. A clock that was set back lengthens neither time. Arguments: the command, the folder, idle minutes, longest minutes, a command that ends the server elsewhere.
 */
export const SUPERVISE = `
folder=$2
trap : TERM HUP INT
sh -c "$1" </dev/null &
server=$!
(
  trap - TERM HUP INT
  began=$(date +%s)
  looked=$began
  while sleep 5; do
    kill -0 "$server" 2>/dev/null || exit 0
    [ -e "$folder/why" ] && exit 0
    now=$(date +%s)
    gap=$((now - looked))
    [ "$gap" -lt 0 ] && began=$((began + gap))
    if [ "$gap" -lt 0 ] || [ "$gap" -gt 60 ]; then touch -c "$folder/used"; fi
    looked=$now
    why=
    if [ "$3" -gt 0 ] && [ -n "$(find "$folder/used" -mmin "+$3" 2>/dev/null)" ]; then why=idle
    elif [ "$4" -gt 0 ] && [ "$((now - began))" -ge "$(($4 * 60))" ]; then why=time
    fi
    if [ -n "$why" ]; then
      printf %s "$why" >"$folder/why"
      [ -n "$5" ] && sh -c "$5"
      trap '' TERM
      kill -s TERM -- "-$$"
      sleep 10
      kill -s KILL -- "-$$"
    fi
  done
) >/dev/null 2>&1 </dev/null &
while :; do
  wait "$server"
  code=$?
  kill -0 "$server" 2>/dev/null || break
done
printf %s "$code" >"$folder/exit"
`;

/**
 * The same on another host, where only its longest time is watched: whether it is used is known here. Its process group
 * is noted, so that the server can be found and ended when the connection is lost; it prints to a file, since what a
 * broken line leaves behind would fail it. Arguments: a label, longest minutes, the command.
 */
const ELSEWHERE = `
folder=$HOME/.braid/engines
mkdir -p "$folder" || exit 1
group=$(ps -o pgid= -p $$ | tr -d ' ')
echo "$group" >"$folder/$1"
echo "braid: process group $group"
: >"$folder/$1.log"
sh -c "$3" </dev/null >>"$folder/$1.log" 2>&1 &
server=$!
tail -n +1 -f "$folder/$1.log" &
tailer=$!
(
  began=$(date +%s)
  looked=$began
  while sleep 5; do
    kill -0 "$server" 2>/dev/null || exit 0
    now=$(date +%s)
    [ "$now" -lt "$looked" ] && began=$((began - looked + now))
    looked=$now
    if [ "$2" -gt 0 ] && [ "$((now - began))" -ge "$(($2 * 60))" ]; then kill -s TERM -- "-$group"; fi
  done
) >/dev/null 2>&1 </dev/null &
wait "$server"
code=$?
sleep 1
kill "$tailer" 2>/dev/null
rm -f "$folder/$1" "$folder/$1.log"
exit "$code"
`;

/** A second line to a host whose first one broke: shows what is printed from now on, and lasts as long as the server. */
const ATTACH = `
file=$HOME/.braid/engines/$1
[ -e "$file" ] || { echo "braid: the server has ended there"; exit 3; }
group=$(cat "$file")
echo "braid: connected again; what was printed meanwhile is in $file.log there"
tail -n 0 -f "$file.log" &
tailer=$!
while sleep 2; do
  kill -s 0 "$tailer" 2>/dev/null || exit 255
  [ -e "$file" ] && kill -s 0 -- "-$group" 2>/dev/null || break
done
kill "$tailer" 2>/dev/null
echo "braid: the server has ended there"
exit 3
`;

/**
 * Runs a line to a host and, once it has broken, another one that attaches to what still runs there: the tunnel is open
 * again under the same address. It gives up after a number of tries in a row. Arguments: the folder with the log, the
 * first line, the second, the tries, seconds between the first two.
 */
const REOPENING = `
sh -c "$2"
code=$?
tries=0
pause=$5
while [ "$code" = 255 ] && [ ! -e "$1/why" ] && grep -q '^braid: process group' "$1/log.txt" && [ "$tries" -lt "$4" ]; do
  tries=$((tries + 1))
  printf '%s of %s' "$tries" "$4" >"$1/reopening"
  echo "braid: the connection broke; opening it again, try $tries of $4"
  sleep "$pause"
  pause=$((pause * 2))
  [ "$pause" -gt 60 ] && pause=60
  began=$(date +%s)
  ( sleep 3; rm -f "$1/reopening" ) &
  shown=$!
  sh -c "$3"
  code=$?
  kill "$shown" 2>/dev/null
  if [ "$(($(date +%s) - began))" -ge 60 ]; then
    tries=0
    pause=$5
  fi
done
rm -f "$1/reopening"
exit "$code"
`;

/** Tries to open a broken tunnel again: a quarter of an hour in all, longer than a run waits for an answer. */
const TRIES = 18;
const PAUSE_SECONDS = 2;

/** The line that keeps a tunnel open for as long as the server behind it lives. */
export function reopening(folder: string, first: string, again: string): string {
  return `exec ${script(REOPENING, folder, first, again, String(TRIES), String(PAUSE_SECONDS))}`;
}

/** What the log begins with once the host has begun. */
export const BEGUN = /^braid: process group \d+$/m;

/** What a host that ends a server is asked: its group is ended, after ten seconds by force. */
const END = `
file=$HOME/.braid/engines/$1
[ -e "$file" ] || exit 0
group=$(cat "$file")
kill -s TERM -- "-$group" 2>/dev/null
for i in 1 2 3 4 5 6 7 8 9 10; do
  kill -s 0 -- "-$group" 2>/dev/null || break
  sleep 1
done
kill -s KILL -- "-$group" 2>/dev/null
rm -f "$file" "$file.log"
`;

/** Exits with 0 if the server's group is alive there, with 3 if it isn't. */
const ASK = `
file=$HOME/.braid/engines/$1
[ -e "$file" ] && kill -s 0 -- "-$(cat "$file")" 2>/dev/null && exit 0
exit 3
`;

/**
 * The same inside a job, where nobody writes down what uses the server: as long as something is connected to its port, it
 * is used. The kernel lists connections, also for a minute after they were closed, and a run connects every few seconds.
 * Counted from when the server first listens. Arguments: the command, idle seconds, the port, the code to end with.
 */
const IN_JOB = `
port=$(printf ':%04X' "$3")
read -r stat </proc/$$/stat 2>/dev/null || stat=
group=\${stat##*) }
group=\${group#* * }
group=\${group%% *}
trap : TERM HUP INT
sh -c "$1" </dev/null &
server=$!
seen() {
  listens=
  for table in /proc/net/tcp /proc/net/tcp6; do
    [ -r "$table" ] || continue
    while read -r _ here _ state _; do
      case "$here $state" in
        *"$port 0A") listens=1 ;;
        *"$port "*) return 0 ;;
      esac
    done <"$table"
  done
  return 1
}
if [ -z "$group" ] || [ ! -r /proc/net/tcp ]; then
  echo 'braid: connections are not listed here, so the idle time is not watched'
else
  (
    trap : TERM
    pause=5
    [ "$2" -lt 60 ] && pause=1
    used=
    while sleep "$pause"; do
      kill -0 "$server" 2>/dev/null || exit 0
      now=$(date +%s)
      if seen; then used=$now
      elif [ -n "$listens" ]; then used=\${used:-$now}
      fi
      [ -n "$used" ] || continue
      [ "$now" -lt "$used" ] && used=$now
      [ "$((now - used))" -ge "$2" ] || continue
      echo "braid: nothing has used port $3 for $2 seconds, so the server is ended"
      kill -s USR1 $$
      kill -s TERM -- "-$group"
      sleep 10
      kill -s KILL "$server"
      exit 0
    done
  ) &
fi
idle=
trap 'idle=1' USR1
while :; do
  wait "$server"
  code=$?
  kill -0 "$server" 2>/dev/null || break
done
[ -n "$idle" ] && exit "$4"
exit "$code"
`;

/** What a job ends with when nobody has used its server. */
export const IDLE_CODE = 79;

/** The line that a job gets to run a server until nobody has used its port for so long; 0 seconds: for ever. */
export function whileUsed(command: string, idleSeconds: number, port: number | null, code = IDLE_CODE): string {
  if (idleSeconds === 0 || port === null) return command;
  // Shells around it would be ended with the server, and hide the code.
  return `exec ${script(IN_JOB, command, String(idleSeconds), String(port), String(code))}`;
}

function script(text: string, ...args: readonly string[]): string {
  return ['sh', '-c', quoted(text), 'braid', ...args.map(quoted)].join(' ');
}

/** The line that a host gets to run a server. */
export function elsewhere(label: string, minutes: number, command: string): string {
  return script(ELSEWHERE, label, String(minutes), command);
}

/** The line that attaches to a server there, of a second connection. */
export function attachElsewhere(label: string): string {
  return script(ATTACH, label);
}

/** The line that ends a server there. */
export function endElsewhere(label: string): string {
  return script(END, label);
}

/** The line that asks whether a server is there. */
export function askElsewhere(label: string): string {
  return script(ASK, label);
}

/** Asks nothing of the user, notices a dead line within a minute, and fails where the tunnel can't be made. */
const SSH_OPTIONS = ['BatchMode=yes', 'ExitOnForwardFailure=yes', 'ServerAliveInterval=15', 'ServerAliveCountMax=4'];

/** Arguments of ssh: a line for a host, with a tunnel from a port here to one there. */
export function sshArguments(
  host: string,
  line: string,
  tunnel: { readonly here: number; readonly there: number } | null = null,
): readonly string[] {
  const forward = tunnel === null ? [] : ['-L', `127.0.0.1:${tunnel.here}:127.0.0.1:${tunnel.there}`];
  return [...SSH_OPTIONS.flatMap((option) => ['-o', option]), ...forward, '--', host, line];
}

/** The same as a shell's line. */
export function sshLine(args: readonly string[]): string {
  return ['ssh', ...args].map(quoted).join(' ');
}
