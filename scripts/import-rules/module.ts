import { type Span, Visitor, parseSync } from 'oxc-parser';

/** What the import rules ask about one module, each fact with its line. */
export interface Module {
  readonly path: string;
  readonly imports: readonly Import[];
  readonly impurities: readonly Impurity[];
}

export interface Import {
  readonly line: number;
  readonly specifier: string;
  readonly form: 'import' | 'import type' | 'import()' | 'export' | 'export type' | 'export *';
}

/** A use of something whose answer differs from run to run, or that reaches out of the program. */
export interface Impurity {
  readonly line: number;
  readonly name: string;
}

const IMPURE_GLOBALS = new Set(
  `process console performance crypto globalThis global Buffer require fetch XMLHttpRequest WebSocket
  setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask`.split(
    /\s+/,
  ),
);

const IMPURE_MEMBERS = new Set(['Date.now', 'Math.random']);

export function parseModule(path: string, text: string): Module {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);

  const imports: Import[] = [];
  const impurities: Impurity[] = [];
  // `process` in `{ process: 1 }` or `step.process` names a property, not the global.
  const propertyNames = new Set<Span>();

  const lineOf = (node: Span): number => text.slice(0, node.start).split('\n').length;
  const addImport = (node: Span, specifier: string, form: Import['form']): void => {
    imports.push({ line: lineOf(node), specifier, form });
  };
  const addImpurity = (node: Span, name: string): void => {
    impurities.push({ line: lineOf(node), name });
  };
  const addPropertyName = (node: { computed: boolean; key: Span }): void => {
    if (!node.computed) propertyNames.add(node.key);
  };

  new Visitor({
    ImportDeclaration(node) {
      addImport(node, node.source.value, node.importKind === 'type' ? 'import type' : 'import');
    },
    ExportNamedDeclaration(node) {
      if (node.source === null) return;
      addImport(node, node.source.value, node.exportKind === 'type' ? 'export type' : 'export');
    },
    ExportAllDeclaration(node) {
      addImport(node, node.source.value, 'export *');
    },
    ImportExpression({ source, ...node }) {
      const isConstant = source.type === 'Literal' && typeof source.value === 'string';
      const specifier = isConstant ? source.value : text.slice(source.start, source.end);
      addImport(node, specifier, 'import()');
    },
    TSImportType(node) {
      addImport(node, node.source.value, 'import type');
    },
    Property: addPropertyName,
    PropertyDefinition: addPropertyName,
    MethodDefinition: addPropertyName,
    TSPropertySignature: addPropertyName,
    TSMethodSignature: addPropertyName,
    MemberExpression(node) {
      if (node.computed) return;
      propertyNames.add(node.property);
      const member = `${text.slice(node.object.start, node.object.end)}.${node.property.name}`;
      if (IMPURE_MEMBERS.has(member)) addImpurity(node, member);
    },
    NewExpression(node) {
      const { callee } = node;
      if (node.arguments.length === 0 && callee.type === 'Identifier' && callee.name === 'Date') {
        addImpurity(node, 'new Date()');
      }
    },
    CallExpression({ callee }) {
      if (callee.type === 'Identifier' && callee.name === 'Date') addImpurity(callee, 'Date()');
    },
    MetaProperty(node) {
      if (node.meta.name === 'import') addImpurity(node, 'import.meta');
    },
    Identifier(node) {
      if (IMPURE_GLOBALS.has(node.name) && !propertyNames.has(node)) addImpurity(node, node.name);
    },
  }).visit(program);

  return { path, imports, impurities };
}
