/** Options before any command that are not the agent's. */
const ABOUT_ALL: ReadonlySet<string> = new Set(['--help', '-h', '--version', '-v']);

/** The words and options that belong to the coding agent, which is what `bobbin` alone starts on a terminal. */
export function isAgentCall(args: readonly string[]): boolean {
  const [first] = args;
  if (first === undefined) return process.stdin.isTTY && process.stdout.isTTY;
  if (ABOUT_ALL.has(first)) return false;
  // A command is one word; a prompt that is one word goes after `agent`.
  return first === 'agent' || first.startsWith('-') || /\s/.test(first);
}

export async function runAgentCommand(args: readonly string[]): Promise<number> {
  const { runAgent } = await import('@bobbin/agent');
  return runAgent(args[0] === 'agent' ? args.slice(1) : args);
}
