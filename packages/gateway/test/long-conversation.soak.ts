import { longConversations } from './long-conversations.ts';

longConversations(300, 32_000);
