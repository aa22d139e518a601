import type { Codec, Message } from '@bobbin/core';

/** For hosts whose sessions a session format decodes: the conversation is kept in Bobbin's own messages. */
export const plainMessages: Codec<Message> = {
  name: 'bobbin',
  decode: (messages) => messages,
  encode: (messages) => messages,
};
