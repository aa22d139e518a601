import { cutShape, type CutRule } from '../plan/cut.ts';
import { drop } from '../compact/rungs/drop.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import type { Policy } from '../compact/policy.ts';
import type { Rung } from '../compact/rungs/rung.ts';
import { triggerShape, turnCount, type Trigger } from '../plan/trigger.ts';

/** The session service's windows: what comes before the window is left out, and no model is asked. */
function windowPolicy(
  name: string,
  trigger: Trigger,
  cut: CutRule,
  rung: Rung = drop({ reach: 'cut' }),
): Policy {
  cutShape(cut, name);
  triggerShape(trigger, `${name}.trigger`);
  return {
    name,
    trigger,
    cut,
    ladder: [rung],
    stop: 'at-end',
    targetShare: 0.85,
    style: DEFAULT_STYLE,
  };
}

/** The newest N real messages, from a user message on. */
export function slidingWindow(messages: number = 20, trigger: Trigger = turnCount(20)): Policy {
  return windowPolicy('sliding-window', trigger, { kind: 'sliding-window', messages });
}

/** The newest N whole turns. */
export function turnWindow(turns: number = 10, trigger: Trigger = turnCount(20)): Policy {
  return windowPolicy(
    'turn-window',
    trigger,
    { kind: 'turn-window', turns },
    drop({ reach: 'cut', keepPreamble: true }),
  );
}

/** The longest suffix within a number of tokens; looked for when there is twice as much, so that it is quiet between. */
export function tokenWindow(
  tokens: number = 4_000,
  trigger: Trigger = { kind: 'tokens', atLeast: tokens * 2 },
): Policy {
  return windowPolicy('token-window', trigger, { kind: 'token-window', tokens });
}
