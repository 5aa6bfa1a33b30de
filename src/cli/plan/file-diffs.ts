import { structuredPatch } from 'diff'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { printable } from '../../kit/printable.ts'
import type { Paint } from '../command.ts'

/** By path, or by the name of a unit. */
type Texts = ReadonlyMap<string, string>

/** What changes inside files, line by line, and in units. Of secrets only that they change. */
export function fileDiffs(before: Texts, after: Texts, paint: Paint): string {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return paths.map((path) => fileDiff(path, before.get(path), after.get(path), paint)).join('')
}

/** What would be new or another one on a host that said what is there. */
export function changedTexts(plan: NodePlan, ops: readonly Op[]): Texts {
  const touched = new Set(
    ops.filter(({ action }) => action === 'create' || action === 'change').map(({ name }) => name),
  )
  return new Map([...textsOf(plan)].filter(([name]) => touched.has(name)))
}

/** A secret is its name and its tag, never its content. */
export function textsOf(plan: NodePlan | undefined): Texts {
  const components = plan?.components ?? []
  return new Map(
    components.flatMap(({ files, derivedFiles, service }) => [
      ...files.map(({ path, content }) => {
        const text = content.kind === 'text' ? content.text : `secret ${content.secret}, tag ${content.tag}\n`
        return [path, text] as const
      }),
      ...derivedFiles.map(({ path, template }) => [path, template] as const),
      ...(service === undefined
        ? []
        : [[service.name, service.supervisor === 'systemd' ? service.unit : json(service)] as const]),
    ]),
  )
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

function fileDiff(path: string, before: string | undefined, after: string | undefined, paint: Paint): string {
  if (before === after) return ''
  const { hunks } = structuredPatch(path, path, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
  })
  const heading = before === undefined ? 'new' : after === undefined ? 'removed' : 'changed'
  const lines = hunks.flatMap((hunk) => [
    ...(heading === 'changed' ? [paint('cyan', `@@ -${hunk.oldStart} +${hunk.newStart} @@`)] : []),
    ...hunk.lines.map((line) => painted(printable(line), paint)),
  ])
  return `${paint('bold', printable(path))} (${heading})\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function painted(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', line)
  return line.startsWith('-') ? paint('red', line) : line
}
