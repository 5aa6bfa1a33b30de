import { dirname, join } from 'node:path'
import { listImports } from './arrows.ts'
import { isProduct, readRepository } from './words.ts'

export interface Shape {
  /** Product modules that an entry point imports, directly or through other modules. */
  readonly reachable: readonly string[]
  /** Product modules that no entry point imports, not even through other modules. */
  readonly unreachable: readonly string[]
  /** Reachable modules with more lines than `maxLines` that are not tables. */
  readonly long: readonly string[]
  /** Pairs of subfolders of one top-level folder that import each other. */
  readonly twoWayPairs: readonly string[]
  /** Groups of modules that import each other in a circle. Type imports count too. */
  readonly cycles: readonly (readonly string[])[]
}

const maxLines = 400
/** Top-level folders whose subfolders are checked for imports in both directions. */
const dividedRooms = ['src/agent', 'src/lifecycle', 'src/actions', 'src/cli']
/** True for modules that are tables with one row per flag, code or operation. Such modules may be long. */
const isTable = (file: string) => /^src\/(?:catalog\/flags|error-codes|findings)\//.test(file)

/** True for the entry points of the npm package, and of the script that browsers run. */
const isEntry = (file: string) => file.startsWith('src/sdk/') || file === 'src/ui/web/ui.ts'

export function measureShape(modules: ReadonlyMap<string, string>): Shape {
  const product = new Map([...modules].filter(([file]) => isProduct(file)))
  const imports = new Map(
    [...product].map(([file, text]) => [
      file,
      listImports(file, text).filter((target) => product.has(target)),
    ]),
  )
  const reached = findReachable(['src/main.ts', ...[...product.keys()].filter(isEntry)], imports)
  return {
    reachable: [...reached].toSorted(),
    unreachable: [...product.keys()].filter((file) => !reached.has(file)),
    long: [...reached].filter(
      (file) => !isTable(file) && (product.get(file)?.split('\n').length ?? 0) - 1 > maxLines,
    ),
    twoWayPairs: dividedRooms.flatMap((room) => findTwoWayPairs(room, imports)),
    cycles: findCycles(imports),
  }
}

function findReachable(
  entries: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const reached = new Set(entries)
  for (const file of reached) for (const target of imports.get(file) ?? []) reached.add(target)
  return reached
}

/**
 * Returns the subfolder of a module inside a top-level folder: `src/agent/heal/probes/http.ts` is in `heal`.
 */
function folderIn(room: string, file: string): string | undefined {
  if (!file.startsWith(`${room}/`)) return undefined
  return dirname(file.slice(room.length + 1)).split('/')[0]
}

function findTwoWayPairs(room: string, imports: ReadonlyMap<string, readonly string[]>): string[] {
  const arrows = new Set(
    [...imports].flatMap(([file, targets]) => {
      const from = folderIn(room, file)
      if (from === undefined) return []
      return targets.flatMap((target) => {
        const to = folderIn(room, target)
        return to === undefined || to === from ? [] : [`${from} ${to}`]
      })
    }),
  )
  return [...arrows]
    .map((arrow) => arrow.split(' '))
    .filter(([from = '', to = '']) => from < to && arrows.has(`${to} ${from}`))
    .map(([from, to]) => `${room}: ${from} and ${to}`)
}

/** Finds strongly connected components with more than one module (Tarjan). */
export function findCycles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const cycles: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.size - 1)
    stack.push(file)
    onStack.add(file)
    for (const target of imports.get(file) ?? []) {
      if (!index.has(target)) visit(target)
      else if (!onStack.has(target)) continue
      low.set(file, Math.min(low.get(file) ?? 0, low.get(target) ?? 0))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    for (const member of group) onStack.delete(member)
    if (group.length > 1) cycles.push(group)
  }
  for (const file of imports.keys()) if (!index.has(file)) visit(file)
  return cycles
}

if (import.meta.main) {
  const { reachable, unreachable, long, twoWayPairs, cycles } = measureShape(
    readRepository(join(import.meta.dirname, '..')).modules,
  )
  const wrong = [
    ...unreachable.map((file) => `${file}: no entry point reaches it, and it is not in a testing/ folder`),
    ...long.map((file) => `${file}: more than ${maxLines} lines`),
    ...twoWayPairs.map((pair) => `${pair} import each other`),
    ...cycles.map((group) => `circular import: ${group.join(', ')}`),
  ]
  if (!process.argv.includes('--counts')) for (const line of wrong) process.stderr.write(`${line}\n`)
  process.stderr.write(
    `shape: ${reachable.length} modules reachable from src/main.ts and src/sdk, ${unreachable.length} not, ` +
      `${long.length} over ${maxLines} lines, ${twoWayPairs.length} two-way folder pairs, ${cycles.length} cycles\n`,
  )
  process.exitCode = wrong.length === 0 ? 0 : 1
}
