import { dirname, join } from 'node:path'
import { etcdDataDirectory, etcdInitializedFile, etcdUnit } from '../../contract/etcd-restore.ts'
import type { Op } from '../../contract/op.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { LinuxHost } from '../host/host.ts'
import { isDown } from '../host/service-manager.ts'
import { openJournal } from '../records/journal.ts'
import type { HostRunOptions } from '../reset/stop-services.ts'
import { journalRun, type OpOutcome, runOp } from '../records/run-op.ts'
import { readAppliedPlan } from '../records/state-file.ts'

const movedPrefix = 'before-rejoin-'

/**
 * Wipes the etcd member of a host, so that it can join again as a new member. Its data is moved aside. The
 * initialized marker is removed last: while the marker exists, an apply does not start etcd without data.
 */
export async function wipeEtcd(options: HostRunOptions<LinuxHost>): Promise<void> {
  const { host } = options
  const run = { ...options, journal: await openJournal(host, options.run) }
  const op: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'remove',
    target: 'directory',
    name: etcdDataDirectory,
    because: ['the etcd member joins again'],
  }
  await journalRun(run, { command: 'wipe etcd data' }, async () => {
    await runOp(run, op, async () => wipeMember(host))
  })
}

async function wipeMember(host: LinuxHost): Promise<OpOutcome> {
  await refuseRunningEtcd(host)
  const { files } = host
  const hadData = await moveDataAside(host, movedPrefix)
  await pruneMovedData(host, movedPrefix)
  // Files with `once` describe how the member was initialized. They are deleted, because the new member needs
  // new files.
  const component = (await readAppliedPlan(host))?.components.find(({ name }) => name === 'etcd')
  for (const { path, once } of component?.files ?? []) if (once === true) await files.remove(path)
  const wasInitialized = await files.remove(etcdInitializedFile)
  return hadData || wasInitialized ? 'done' : 'unchanged'
}

/** Number of moved data directories that are kept. */
const maxMoved = 2
const root = dirname(etcdDataDirectory)

/**
 * Renames the data directory of an etcd member instead of deleting it. Returns false if the directory does
 * not exist.
 */
export async function moveDataAside(host: LinuxHost, prefix: string): Promise<boolean> {
  const { files, clock } = host
  if ((await files.stat(etcdDataDirectory)) === undefined) return false
  const name = `${prefix}${clock.now().toISOString().replaceAll(':', '-')}`
  const last = (await listMovedData(host, prefix)).at(-1) ?? ''
  // If the clock was set back, the name must still sort last. Otherwise this data would be deleted as the oldest.
  await files.rename(etcdDataDirectory, join(root, name > last ? name : `${last}.1`))
  return true
}

/** Lists the names of moved data directories with this prefix, oldest first. */
async function listMovedData({ files }: LinuxHost, prefix: string): Promise<string[]> {
  const names = ((await files.list(root)) ?? []).map(({ name }) => name)
  return names.filter((name) => name.startsWith(prefix)).toSorted()
}

/** Deletes all moved data directories with this prefix except the newest ones. */
export async function pruneMovedData(host: LinuxHost, prefix: string): Promise<void> {
  const moved = await listMovedData(host, prefix)
  for (const name of moved.slice(0, -maxMoved)) await host.files.removeTree(join(root, name))
}

/** Throws if etcd runs, because its data must not be replaced while it is in use. */
export async function refuseRunningEtcd({ services }: LinuxHost): Promise<void> {
  if (isDown(await services.show(etcdUnit))) return
  throw new HyperkubeError('ETCD_RESTORE_RUNNING', 'etcd is running, so its data cannot be replaced', {
    component: 'etcd',
    hint: 'run the same command again: it stops etcd first',
  })
}
