import type { Script } from '../model/scripted-model.ts';

const DEFAULT_STEPS = 40;

/**
 * A long task to watch compaction with: "do N steps" runs N commands, each with some output. It knows its position from
 * its own last command alone, so that it goes on after any compaction.
 */
export const longScript: Script = ({ messages, tools }) => {
  if (tools.length === 0) return { text: summaryOf(messages.map(({ text }) => text).join('\n')) };
  const last = messages.at(-1);
  const asked =
    messages.findLast(({ role, text }) => role === 'user' && STEPS.test(text))?.text ?? '';
  const called = messages.findLast(({ calls }) => calls.length > 0)?.calls[0]?.args['command'];
  const doing = typeof called === 'string' ? STEP.exec(called) : null;
  if (last?.role === 'user' && !STEPS.test(last.text) && doing === null)
    return { text: `Noted: ${last.text}` };
  const fresh = last?.role === 'user' && STEPS.test(last.text);
  const total = Number(fresh ? STEPS.exec(asked)?.[1] : (doing?.[2] ?? DEFAULT_STEPS));
  const done = fresh ? 0 : Number(doing?.[1] ?? 0);
  const aside = last?.role === 'user' && !fresh ? `Noted: ${last.text}. ` : '';
  if (done >= total) return { text: `${aside}All ${total} steps are done.` };
  const command = `echo "step ${done + 1} of ${total}"; seq -f "line %g of the output of step ${done + 1}" 1 60`;
  return { text: `${aside}Step ${done + 1}.`, calls: [{ tool: 'bash', args: { command } }] };
};

const STEPS = /^do (\d+) steps\b/;
const STEP = /step (\d+) of (\d+)/;

function summaryOf(transcript: string): string {
  const steps = [...transcript.matchAll(/step (\d+) of \d+/g)].map((match) => Number(match[1]));
  const last = steps.length === 0 ? 0 : Math.max(...steps);
  return `A task of many steps is under way; steps up to ${last} are done, the next is step ${last + 1}.`;
}
