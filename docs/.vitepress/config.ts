import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme } from 'vitepress';

type Item = DefaultTheme.SidebarItem;

const page = (text: string, name: string): Item => ({ text, link: `/${name}` });

const START: readonly Item[] = [page('Getting started', 'getting-started')];
const FRAMEWORKS: readonly Item[] = [
  page('Overview', 'adapters'),
  page('AI SDK', 'frameworks/ai-sdk'),
  page('LangChain, LangGraph', 'frameworks/langchain'),
  page('OpenAI Agents', 'frameworks/openai-agents'),
  page('Mastra', 'frameworks/mastra'),
  page('OpenAI', 'frameworks/openai'),
  page('Anthropic', 'frameworks/anthropic'),
  page('Gemini', 'frameworks/gemini'),
  page('Bedrock', 'frameworks/bedrock'),
  page('pi', 'frameworks/pi'),
  page('OpenCode', 'frameworks/opencode'),
  page('MCP', 'frameworks/mcp'),
  page('A loop of your own', 'loop'),
];
const TASKS: readonly Item[] = [
  page('Keep rules and pins', 'rules-and-pins'),
  page('Choose a preset', 'presets'),
  page('Cost and caching', 'cost'),
  page('Summaries', 'summaries'),
  page('Stores and many machines', 'stores'),
  page('Recall and artifacts', 'recall'),
  page('Troubleshooting', 'troubleshooting'),
];
const TOOLS: readonly Item[] = [
  page('The command', 'cli'),
  page('Audit', 'audit'),
  page('The gateway', 'gateway'),
  page('Figures of the gateway', 'gateway-figures'),
  page('The coding agent', 'agent'),
];
const INSIDE: readonly Item[] = [
  page('How it works', 'how-it-works'),
  page('Glossary', 'glossary'),
  page('The path of a call', 'path-of-a-call'),
  page('Thread', 'thread'),
  page('Plan', 'plan'),
  page('Prompt', 'prompt'),
  page('Compactor', 'compactor'),
  page('Tokens', 'tokens'),
  page('Codecs', 'codecs'),
  page('Differences', 'differences'),
  page('Decisions', 'decisions/README'),
  page('Dependencies', 'dependencies'),
];

/** The generated reference, an entry of the package a line. */
function referenceItems(): Item[] {
  const folder = fileURLToPath(new URL('../reference', import.meta.url));
  const entries = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    : [];
  const items = entries.map(({ name }) =>
    page(name === 'bobbin' ? 'bobbin' : `bobbin/${name}`, `reference/${name}/`),
  );
  return [page('The API by example', 'api'), ...items];
}

const group = (text: string, items: readonly Item[]): Item => ({
  text,
  items: [...items],
  collapsed: false,
});

export default defineConfig({
  title: 'Bobbin',
  description:
    "Makes long agent conversations fit the model's window, and keeps the whole conversation.",
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  lastUpdated: false,
  srcExclude: ['node_modules/**'],
  outDir: '../.docs-site',
  // A dead link fails the build; the site has no links to files outside this folder.
  ignoreDeadLinks: false,
  markdown: {
    // Generated pages and ours may contain what looks like a template of Vue.
    attrs: { disable: true },
    config: (md) => {
      md.core.ruler.push('outside-links', ({ tokens, env }) => {
        for (const { children } of tokens)
          if (children) {
            withoutOutsideLinks(children, env);
            nameLinks(children);
          }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      page('Start', 'getting-started') as DefaultTheme.NavItemWithLink,
      page('Frameworks', 'adapters') as DefaultTheme.NavItemWithLink,
      page('How it works', 'how-it-works') as DefaultTheme.NavItemWithLink,
      page('API', 'api') as DefaultTheme.NavItemWithLink,
    ],
    sidebar: [
      group('Start', START),
      group('Frameworks', FRAMEWORKS),
      group('Tasks', TASKS),
      group('Tools', TOOLS),
      group('Inside', INSIDE),
      { ...group('Reference', referenceItems()), collapsed: true },
    ],
  },
});

interface Token {
  type: string;
  content: string;
  attrGet(name: string): string | null;
}

/** Links to files of the repository that are not pages are shown as text. */
function withoutOutsideLinks(children: Token[], env: { readonly relativePath?: string }): void {
  for (let i = 0; i < children.length; i++) {
    const token = children[i];
    if (token?.type !== 'link_open' || !isOutside(token.attrGet('href') ?? '', env)) continue;
    const close = children.findIndex((other, k) => k > i && other.type === 'link_close');
    children.splice(close, 1);
    children.splice(i, 1);
  }
}

function isOutside(
  href: string,
  { relativePath = '' }: { readonly relativePath?: string },
): boolean {
  return href.startsWith('../') && join(dirname(relativePath), href).startsWith('..');
}

const TITLES = new Map(
  [START, FRAMEWORKS, TASKS, TOOLS, INSIDE].flat().map(({ link, text }) => [link, text]),
);

/** A link that shows the name of a file shows the title of its page instead. */
function nameLinks(children: readonly Token[]): void {
  children.forEach((token, i) => {
    const name =
      children[i - 1]?.type === 'link_open'
        ? /^([\w/-]+)\.md$/.exec(token.content)?.[1]
        : undefined;
    const title = TITLES.get(`/${name}`);
    if (title !== undefined) token.content = title;
  });
}
