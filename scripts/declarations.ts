import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'vite'

/** One top-level statement of a declaration file that declares names. */
interface Declaration {
  readonly names: readonly string[]
  /** Text with the comment above it. */
  readonly text: string
  /** Names of types and values that the statement uses. */
  readonly uses: ReadonlySet<string>
  /** Inline imports, as in `import('./x.ts').Name`. */
  readonly inlineImports: readonly ImportedName[]
}

interface ImportedName {
  /** Path of a module of the package, or the name of another package. */
  readonly module: string
  /** Name in the module that exports it; `*` for the whole module. */
  readonly name: string
  readonly isType: boolean
}

/** An export of another module, or of a declaration without the keyword `export`. */
interface Reexport extends Partial<ImportedName> {
  readonly local: string
  readonly exported: string
  readonly isType: boolean
}

interface DeclarationModule {
  readonly imports: ReadonlyMap<string, ImportedName>
  readonly reexports: readonly Reexport[]
  readonly declarations: readonly Declaration[]
}

/** A node of the syntax tree. Only its type and its position have the same form in all nodes. */
interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/**
 * Removes everything from declaration files that the exports of the entry modules do not need. Returns the
 * remaining modules by path. The keys of `files` are paths such as `src/kube/watch.d.ts`.
 */
export function pruneDeclarations(
  files: ReadonlyMap<string, string>,
  entries: readonly string[],
): ReadonlyMap<string, string> {
  const modules = new Map<string, DeclarationModule>()
  const readModule = (path: string): DeclarationModule => {
    const known = modules.get(path)
    if (known !== undefined) return known
    const text = files.get(path)
    if (text === undefined) throw new Error(`there is no declaration file ${path}`)
    const module = parseModule(path, text)
    modules.set(path, module)
    return module
  }
  /** Names that are needed of each module. */
  const needed = new Map<string, Set<string>>()
  const need = (path: string, name: string): void => {
    const names = needed.get(path) ?? new Set<string>()
    needed.set(path, names)
    if (names.has(name)) return
    names.add(name)
    const module = readModule(path)
    const reexport = module.reexports.find(({ exported }) => exported === name)
    if (reexport?.module !== undefined)
      return needImport({ ...reexport, module: reexport.module, name: reexport.local })
    if (reexport !== undefined && reexport.local !== name) return need(path, reexport.local)
    const imported = module.imports.get(name)
    if (imported !== undefined) return needImport(imported)
    const found = module.declarations.filter(({ names: declared }) => declared.includes(name))
    for (const { uses, inlineImports } of found) {
      for (const used of uses) if (isDeclared(module, used)) need(path, used)
      for (const one of inlineImports) needImport(one)
    }
  }
  const needImport = ({ module, name }: ImportedName): void => {
    if (files.has(module)) need(module, name)
  }
  for (const entry of entries) for (const name of listExports(readModule(entry))) need(entry, name)
  return new Map(
    [...needed]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, names]) => [path, renderModule(path, readModule(path), names)]),
  )
}

/** Lists the exports of a module with the text of their declarations, also of those from other modules. */
export function listExportedDeclarations(
  files: ReadonlyMap<string, string>,
  path: string,
): { readonly name: string; readonly text: string }[] {
  const module = parseModule(path, files.get(path) ?? '')
  return listExports(module).map((name) => ({ name, text: findDeclaration(files, path, name) }))
}

function findDeclaration(files: ReadonlyMap<string, string>, path: string, name: string): string {
  const { reexports, declarations } = parseModule(path, files.get(path) ?? '')
  const { module, local } = reexports.find(({ exported }) => exported === name) ?? {}
  if (module !== undefined && local !== undefined) return findDeclaration(files, module, local)
  const found = declarations.find(({ names }) => names.includes(name))
  if (found === undefined) throw new Error(`${path} does not declare ${name}`)
  return found.text
}

function isDeclared({ imports, declarations }: DeclarationModule, name: string): boolean {
  return imports.has(name) || declarations.some(({ names }) => names.includes(name))
}

function listExports({ reexports, declarations }: DeclarationModule): string[] {
  const declared = declarations.filter(({ text }) => /^export /m.test(text)).flatMap(({ names }) => names)
  return [...reexports.map(({ exported }) => exported), ...declared]
}

function parseModule(path: string, text: string): DeclarationModule {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const imports = new Map<string, ImportedName>()
  const reexports: Reexport[] = []
  const declarations: Declaration[] = []
  let previousEnd = 0
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') {
      const module = resolveModule(path, statement.source.value)
      for (const specifier of statement.specifiers) {
        const name = specifier.type === 'ImportSpecifier' ? readName(specifier.imported) : '*'
        const isType =
          statement.importKind === 'type' || ('importKind' in specifier && specifier.importKind === 'type')
        imports.set(specifier.local.name, { module, name, isType })
      }
    } else if (statement.type === 'ExportNamedDeclaration' && statement.declaration === null) {
      const source = statement.source?.value
      for (const { local, exported, exportKind } of statement.specifiers)
        reexports.push({
          local: readName(local),
          exported: readName(exported),
          isType: statement.exportKind === 'type' || exportKind === 'type',
          ...(source === undefined ? {} : { module: resolveModule(path, source) }),
        })
    } else {
      const { start, end } = statement
      const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(text.slice(previousEnd, start))?.[0].trim()
      declarations.push({
        ...inspect(toSyntaxNode(statement), path),
        text: `${comment === undefined ? '' : `${comment}\n`}${text.slice(start, end)}`,
      })
    }
    previousEnd = statement.end
  }
  return { imports, reexports, declarations }
}

function readName(node: { readonly name?: string; readonly value?: unknown }): string {
  return node.name ?? String(node.value)
}

/** Resolves a relative import to a declaration file. Other imports keep the name of their package. */
function resolveModule(path: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier
  return normalize(join(dirname(path), specifier.replace(/\.(?:ts|js)$/, '.d.ts')))
}

function toSyntaxNode(value: unknown): SyntaxNode {
  if (!isSyntaxNode(value)) throw new Error('this is not a node of a syntax tree')
  return value
}

function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** Collects what a statement declares and uses. */
function inspect(statement: SyntaxNode, path: string): Omit<Declaration, 'text'> {
  const uses = new Set<string>()
  const inlineImports: ImportedName[] = []
  const visit = (node: SyntaxNode): void => {
    const reference = node['typeName'] ?? node['exprName'] ?? node['superClass']
    if (isSyntaxNode(reference)) addFirstName(reference, uses)
    if (/^TS(?:InterfaceHeritage|ClassImplements)$/.test(node.type) && isSyntaxNode(node['expression']))
      addFirstName(node['expression'], uses)
    if (node.type === 'TSImportType') inlineImports.push(readInlineImport(node, path))
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isSyntaxNode(child)) visit(child)
    }
  }
  visit(statement)
  const declared = statement.type === 'ExportNamedDeclaration' ? statement['declaration'] : statement
  return { names: readDeclaredNames(toSyntaxNode(declared)), uses, inlineImports }
}

function readDeclaredNames(node: SyntaxNode): string[] {
  const nodes = Array.isArray(node['declarations']) ? node['declarations'] : [node]
  return nodes.flatMap((one: unknown) => {
    const id = isSyntaxNode(one) ? one['id'] : undefined
    return isSyntaxNode(id) && typeof id['name'] === 'string' ? [id['name']] : []
  })
}

/** Adds the first name of an expression such as `z.ZodObject`. */
function addFirstName(node: SyntaxNode, names: Set<string>): void {
  const left = node['left'] ?? node['object']
  if (isSyntaxNode(left)) addFirstName(left, names)
  else if (typeof node['name'] === 'string') names.add(node['name'])
}

function readInlineImport(node: SyntaxNode, path: string): ImportedName {
  const source = node['source'] ?? node['argument']
  const literal = isSyntaxNode(source) && isSyntaxNode(source['literal']) ? source['literal'] : source
  const specifier = isSyntaxNode(literal) ? String(literal['value']) : ''
  const names = new Set<string>()
  if (isSyntaxNode(node['qualifier'])) addFirstName(node['qualifier'], names)
  const [name = '*'] = names
  return { module: resolveModule(path, specifier), name, isType: true }
}

/** Renders the needed part of a module. */
function renderModule(path: string, module: DeclarationModule, names: ReadonlySet<string>): string {
  const kept = module.declarations.filter(({ names: declared }) => declared.some((name) => names.has(name)))
  const used = new Set(kept.flatMap(({ uses }) => [...uses]))
  const imports = [...module.imports].filter(([local]) => used.has(local))
  const lines = [
    ...renderImports(path, imports),
    ...module.reexports
      .filter(({ exported }) => names.has(exported))
      .map((one) => {
        const alias = one.local === one.exported ? one.local : `${one.local} as ${one.exported}`
        const from = one.module === undefined ? '' : ` from '${formatSpecifier(path, one.module)}'`
        return `export ${one.isType ? 'type ' : ''}{ ${alias} }${from};`
      }),
    ...kept.map(({ text }) => text.replaceAll(/(import\(["'][^"']+)\.ts(["']\))/g, '$1.js$2')),
    // Without an export, all declarations of the file would count as exports.
    ...(kept.every(({ text }) => /^export /m.test(text)) ? [] : ['export {};']),
  ]
  return `${lines.join('\n')}\n`
}

function renderImports(path: string, imports: readonly (readonly [string, ImportedName])[]): string[] {
  const byModule = Map.groupBy(imports, ([, { module }]) => module)
  return [...byModule].map(([module, all]) => {
    const specifier = formatSpecifier(path, module)
    const whole = all.find(([, { name }]) => name === '*')
    if (whole !== undefined) return `import * as ${whole[0]} from '${specifier}';`
    const names = all.map(([local, { name }]) => (local === name ? name : `${name} as ${local}`)).toSorted()
    return `import type { ${names.join(', ')} } from '${specifier}';`
  })
}

function formatSpecifier(path: string, module: string): string {
  if (!module.endsWith('.d.ts')) return module
  const from = dirname(path).split('/')
  const to = module.split('/')
  const common = from.findIndex((part, index) => part !== to[index])
  const shared = common === -1 ? from.length : common
  const up = from.slice(shared).map(() => '..')
  const parts = [...(up.length === 0 ? ['.'] : up), ...to.slice(shared)]
  return parts.join('/').replace(/\.d\.ts$/, '.js')
}
