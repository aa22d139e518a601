/** The words and options that belong to the coding agent, which is what `bobbin` alone starts on a terminal. */
export function isAgentCall(args: readonly string[]): boolean {
  const [first] = args;
  if (first === undefined) return process.stdin.isTTY && process.stdout.isTTY;
  if (first === '--help' || first === '-h' || first === '--version') return false;
  return first === 'import' || first === 'agent' || first.startsWith('-');
}

export async function runAgentCommand(args: readonly string[]): Promise<number> {
  const { runAgent } = await import('@bobbin/agent');
  return runAgent(args[0] === 'agent' ? args.slice(1) : args);
}
