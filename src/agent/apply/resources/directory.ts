import type { PlannedDirectory } from '../../../contract/component-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { FileFacts } from '../../host/files.ts'
import type { Host } from '../../host/host.ts'
import { isBelow, isWithin, join } from '../../host/host-path.ts'
import { accessDrift, accessOf } from '../planned-access.ts'
import { isParent, parentsFor, takeParents } from '../parents.ts'
import { pathsOf } from '../resource-paths.ts'
import { takeTree } from '../replace-files.ts'
import { notThere, type Removed, removed, type Target, type Thing, type Work } from '../resource-handler.ts'

export const directory: Target<'directory', PlannedDirectory> = {
  target: 'directory',
  wish: ({ directories }, name) => directories.find(({ path }) => path === name),

  async inspect({ name, owner, mode }, { host }) {
    const facts = await host.files.stat(name)
    if (facts === undefined) return 'absent'
    if (facts.kind !== 'directory') return { drift: 'it is no directory' }
    const drift = await accessDrift(host, facts, { owner, mode })
    return drift === undefined ? 'as-written' : { drift }
  },

  async foresee({ path, owner, mode }, work) {
    if (isWithin(path, work.host.layout.own)) return undefined
    const [parents, before] = [await parentsFor(path, work), await beforeUs(path, work)]
    return { ...work.head, target: 'directory', owner, mode, parents, before }
  },

  async make({ path, owner, mode }, work, former) {
    const { host, head } = work
    const facts = await host.files.stat(path)
    const access = { owner, mode }
    const same = facts?.kind === 'directory' && (await accessDrift(host, facts, access)) === undefined
    const parents = former?.parents ?? (await parentsFor(path, work))
    if (!same) await lay(host, { path, owner, mode }, facts)
    const thing = { ...head, target: 'directory' as const, owner, mode, parents, before: former?.before }
    return { changed: !same, thing }
  },

  /** In our own directories with all that is in it. Elsewhere what is in it is data, and only a reset takes that. */
  async remove(thing, scene) {
    const { name, parents } = thing
    const { host, ledger } = scene
    const entries = await host.files.list(name)
    // What is still there of ours needs it.
    const isNeeded = ledger.things.some((other) => pathsOf(other).some((path) => isBelow(path, name)))
    if (isNeeded && isWithin(name, host.layout.exclusive)) return notThere
    const isData = !isWithin(name, host.layout.exclusive) && entries !== undefined && entries.length > 0
    if (isData) return { changed: false, left: [name] }
    const outcome = entries === undefined ? notThere : await giveBack(host, thing)
    if (outcome.held === undefined) await takeParents(parents, scene)
    return outcome
  },
}

async function lay(
  host: Host,
  { path, owner, mode }: PlannedDirectory,
  facts: FileFacts | undefined,
): Promise<void> {
  if (facts !== undefined && facts.kind !== 'directory') {
    if (!isWithin(path, host.layout.exclusive)) throw taken(path)
    await host.files.remove(path)
  }
  await host.files.makeDirectory(path, await accessOf(host, { owner, mode }))
}

/** How a directory was that is not of our making. */
async function beforeUs(path: string, { host, ledger }: Work): Promise<Thing<'directory'>['before']> {
  const facts = await host.files.stat(path)
  if (facts?.kind !== 'directory' || isParent(ledger, path) || (await hasOnlyOurs(host, path)))
    return undefined
  const { uid, gid, mode, sddl } = facts
  return { uid, gid, mode, ...(sddl === undefined ? {} : { sddl }) }
}

/** Whoever brought the agent has made the directory that all of ours is in. */
async function hasOnlyOurs({ os, files, layout }: Host, path: string): Promise<boolean> {
  if (os === 'linux' || !layout.own.every((own) => isBelow(own, path))) return false
  const entries = (await files.list(path)) ?? []
  return entries.every(({ name }) => layout.own.includes(join(path, name)))
}

async function giveBack(host: Host, { name, before }: Thing<'directory'>): Promise<Removed> {
  if (before === undefined) return takeTree(host, name)
  await host.files.setAccess(name, before)
  return removed
}

function taken(path: string): HyperkubeError {
  return new HyperkubeError('APPLY_PATH_TAKEN', `${path} shall be a directory, and is something else`, {
    hint: `look what it is, and move it away: mv ${path} ${path}.old`,
  })
}
