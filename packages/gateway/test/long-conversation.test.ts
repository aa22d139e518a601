import { longConversations } from './long-conversations.ts';

longConversations(60, 8_000);
