import type { Script } from '../model/scripted-model.ts';

/** Says what was said. */
export const echoScript: Script = ({ messages }) => {
  const last = messages.findLast(({ role }) => role === 'user');
  return { text: `You said: ${last?.text ?? 'nothing'}` };
};
