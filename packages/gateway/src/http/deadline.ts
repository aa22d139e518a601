/** How exactly deadlines are kept. */
const CHECK_MS = 10;

interface Deadline {
  readonly at: number;
  readonly pass: () => void;
}

const open = new Set<Deadline>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls a function after a time, unless the returned function is called before. All deadlines share one timer: nearly
 * none of them passes, and each request has some.
 */
export function deadline(ms: number, pass: () => void): () => void {
  const added: Deadline = { at: performance.now() + ms, pass };
  open.add(added);
  timer ??= setInterval(check, CHECK_MS).unref();
  return () => void open.delete(added);
}

function check(): void {
  if (open.size === 0) {
    clearInterval(timer);
    timer = undefined;
    return;
  }
  const now = performance.now();
  for (const each of open) if (each.at <= now) passSoon(each);
}

/** A timer that fires after the event loop was busy must not win over work that is done by now. */
function passSoon(due: Deadline): void {
  setImmediate(() =>
    setImmediate(() => {
      if (open.delete(due)) due.pass();
    }),
  );
}
