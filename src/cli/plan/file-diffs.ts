import { structuredPatch } from 'diff'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { toPrintable } from '../../kit/printable.ts'
import type { Paint } from '../command.ts'

/** Text of files and units, by path or unit name. */
type FileContents = ReadonlyMap<string, string>

/** Formats changes of files and units line by line. For a secret it only shows that the secret changes. */
export function formatFileDiffs(before: FileContents, after: FileContents, paint: Paint): string {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return paths.map((path) => formatFileDiff(path, before.get(path), after.get(path), paint)).join('')
}

/** Selects the contents of files and units that the ops would create or change on a host. */
export function selectChangedContents(plan: NodePlan, ops: readonly Op[]): FileContents {
  const changedNames = new Set(
    ops.filter(({ action }) => action === 'create' || action === 'change').map(({ name }) => name),
  )
  return new Map([...listPlanContents(plan)].filter(([name]) => changedNames.has(name)))
}

/**
 * Lists the contents of a plan's files and units. A secret is represented by its name and tag, never by its
 * value.
 */
export function listPlanContents(plan: NodePlan | undefined): FileContents {
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
        : [[service.name, service.supervisor === 'systemd' ? service.unit : formatJson(service)] as const]),
    ]),
  )
}

function formatJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

function formatFileDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
  paint: Paint,
): string {
  if (before === after) return ''
  const { hunks } = structuredPatch(path, path, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
  })
  const heading = before === undefined ? 'new' : after === undefined ? 'removed' : 'changed'
  const lines = hunks.flatMap((hunk) => [
    ...(heading === 'changed' ? [paint('cyan', `@@ -${hunk.oldStart} +${hunk.newStart} @@`)] : []),
    ...hunk.lines.map((line) => paintDiffLine(toPrintable(line), paint)),
  ])
  return `${paint('bold', toPrintable(path))} (${heading})\n${lines.map((line) => `  ${line}\n`).join('')}`
}

function paintDiffLine(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', line)
  return line.startsWith('-') ? paint('red', line) : line
}
