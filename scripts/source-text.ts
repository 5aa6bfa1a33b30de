import { parseSync, Visitor } from 'vite'

/** A piece of a module's text and the line on which it starts. */
export interface SourceText {
  readonly kind: 'name' | 'comment' | 'string'
  readonly text: string
  readonly line: number
}

/** Reads every identifier, comment and string of a TypeScript module. */
export function readSourceText(file: string, source: string): SourceText[] {
  const { program, comments, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const lineAt = lineCounter(source)
  const found: SourceText[] = []
  const add = (kind: SourceText['kind'], text: string, start: number) =>
    found.push({ kind, text, line: lineAt(start) })
  new Visitor({
    Identifier: ({ name, start }) => add('name', name, start),
    PrivateIdentifier: ({ name, start }) => add('name', name, start),
    Literal: ({ value, start }) => {
      if (typeof value === 'string') add('string', value, start)
    },
    TemplateElement: ({ value, start }) => add('string', value.cooked ?? value.raw, start),
  }).visit(program)
  for (const { value, start } of comments) add('comment', value, start)
  return found
}

/** Returns the names that a module declares and exports itself, without re-exports. */
export function readExportedNames(file: string, source: string): string[] {
  const { program } = parseSync(file, source)
  const names = program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) return []
    const { declaration } = statement
    if (declaration.type === 'VariableDeclaration')
      return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
    return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : []
  })
  return [...new Set(names)]
}

function lineCounter(source: string): (offset: number) => number {
  const starts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}
