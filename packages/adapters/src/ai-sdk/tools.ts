import {
  type JsonObject,
  type MemoryTool,
  readArtifactTool,
  recallTool,
} from '@bobbin/core/internal';
import type { AiSdkMessage } from '@bobbin/codecs';
import type { HostConversations } from '../conversations.ts';

/** A Standard Schema with its JSON schema (standardschema.dev): both majors take it, and nothing has to be imported. */
export interface StandardInput {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: unknown };
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** A tool as the AI SDK takes it. */
export interface AiSdkTool {
  description: string;
  inputSchema: StandardInput;
  execute(input: unknown, options: { messages?: AiSdkMessage[] | undefined }): Promise<string>;
}

export interface AiSdkMemoryTools {
  read_artifact: AiSdkTool;
  recall: AiSdkTool;
}

/** `said` are the messages of the conversation among those that a tool is called with. */
export function memoryTools(
  conversations: HostConversations<AiSdkMessage>,
  said: (messages: AiSdkMessage[]) => readonly AiSdkMessage[] = (messages) => messages,
): AiSdkMemoryTools {
  const toolOf = ({ definition, answer }: MemoryTool): AiSdkTool => ({
    description: definition.description,
    inputSchema: standardInput(definition.parameters),
    async execute(input, { messages }) {
      const given = said(messages ?? []);
      const { session } = await (given.length > 0 ? conversations.of(given) : conversations.only());
      return answer(conversations.memory, session.key, input);
    },
  });
  return { read_artifact: toolOf(readArtifactTool), recall: toolOf(recallTool) };
}

/** Every value is valid: the tools read what they can of it and say what is missing. */
function standardInput(schema: JsonObject): StandardInput {
  const jsonSchema = (): Record<string, unknown> => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'bobbin',
      validate: (value) => ({ value }),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}
