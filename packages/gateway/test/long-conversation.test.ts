import { longConversations } from './long-conversations.ts';

longConversations(40, 8_000);
