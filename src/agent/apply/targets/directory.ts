import type { PlannedDirectory } from '../../../contract/component-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { FileFacts } from '../../host/files.ts'
import type { LinuxHost } from '../../host/host.ts'
import { isWithin } from '../../host/layout.ts'
import { accessDrift, accessOf } from '../access.ts'
import { isParent, parentsFor, takeParents } from '../parents.ts'
import { pathsOf } from '../paths.ts'
import { notThere, removed, type Target, type Thing, type Work } from '../target.ts'

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
    const isNeeded = ledger.things.some((other) => pathsOf(other).some((path) => path.startsWith(`${name}/`)))
    if (isNeeded && isWithin(name, host.layout.exclusive)) return notThere
    const isData = !isWithin(name, host.layout.exclusive) && entries !== undefined && entries.length > 0
    if (isData) return { changed: false, left: [name] }
    if (entries !== undefined) await giveBack(host, thing)
    await takeParents(parents, scene)
    return entries === undefined ? notThere : removed
  },
}

async function lay(
  host: LinuxHost,
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
  if (facts?.kind !== 'directory' || isParent(ledger, path)) return undefined
  const { uid, gid, mode } = facts
  return { uid, gid, mode }
}

async function giveBack({ files }: LinuxHost, { name, before }: Thing<'directory'>): Promise<void> {
  if (before === undefined) await files.removeTree(name)
  else await files.setAccess(name, before)
}

function taken(path: string): HyperkubeError {
  return new HyperkubeError('APPLY_PATH_TAKEN', `${path} shall be a directory, and is something else`, {
    hint: `look what it is, and move it away: mv ${path} ${path}.old`,
  })
}
