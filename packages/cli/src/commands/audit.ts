import { parseOptions, type Command, type OptionValues } from '../command.ts';
import { COMPACT_OPTIONS } from '../compact/compact-options.ts';

const { model, counter } = COMPACT_OPTIONS;

const OPTIONS = {
  all: { type: 'boolean', help: 'Lists every lost item, not only the first ones.' },
  json: { type: 'boolean', help: 'Prints the audit as JSON instead.' },
  html: {
    type: 'string',
    value: 'FILE',
    help: 'Also writes a report there, as one HTML page that loads nothing.',
  },
  model,
  counter,
} as const;

export type AuditValues = OptionValues<typeof OPTIONS>;

export const auditCommand: Command = {
  name: 'audit',
  operands: '[SESSION…]',
  about:
    'Shows what the compactions in a session of Claude Code, Codex, pi, OpenCode or Bobbin kept and lost: rules, decisions, paths, commands, numbers and open items, which of them the agent used again later, and what Bobbin keeps at the same size without a model. Secrets are left out. Changes nothing. Without a SESSION, or with -, it reads stdin.',
  options: OPTIONS,
  examples: [
    'bobbin audit ~/.claude/projects/*/*.jsonl',
    'bobbin audit session.jsonl --html report.html',
    'bobbin audit session.jsonl --json | jq .totals',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const { audit } = await import('../audit/audit.ts');
    return audit(operands, values);
  },
};
