import type { Json, JsonObject } from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';

/** Something to choose from: the choice goes after the command. */
export interface Choices {
  readonly title: string;
  readonly items: readonly {
    readonly value: string;
    readonly label: string;
    readonly description?: string;
  }[];
}

export interface CommandResult {
  /** For a person. */
  readonly text: string;
  /** The same for a program. */
  readonly data?: Json;
  /** A terminal offers these instead of the text. */
  readonly choices?: Choices;
}

export interface SlashCommand {
  readonly name: string;
  /** What comes after the name. */
  readonly operands: string;
  readonly summary: string;
  /** Whether it must wait until nothing is under way. */
  readonly when: 'any' | 'idle';
  run(agent: Agent, operands: string): Promise<CommandResult> | CommandResult;
}

/** A command in a list, for a program. */
export function describe({ name, operands, summary, when }: SlashCommand): JsonObject {
  return { name, operands, summary, when };
}
