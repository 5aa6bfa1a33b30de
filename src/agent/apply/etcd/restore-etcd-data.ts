import { dirname, join } from 'node:path'
import { deliveredFile } from '../../../contract/uploads.ts'
import { etcdData, type EtcdRestore, type EtcdRestoreId, etcdUser } from '../../../contract/etcd-restore.ts'
import type { Op } from '../../../contract/op.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { unfinished } from '../../host/files.ts'
import type { LinuxHost } from '../../host/host.ts'
import { accessOf } from '../planned-access.ts'
import { openJournal } from '../journal.ts'
import type { ResetOptions } from '../reset/reset.ts'
import { journalRun, type Outcome, runOp } from '../run-op.ts'
import { refuseRunning } from './refuse-running-etcd.ts'
import { forgetMemory, readMemory, type RestoreMemory, writeMemory } from './restore-memory.ts'
import { setAside, tidyAside } from './move-data-aside.ts'

export interface PlaceWish {
  readonly restore: EtcdRestoreId
  /** Of an archive that was brought to the host. */
  readonly sha256: string
}

const formerPrefix = 'before-restore-'
const root = dirname(etcdData)
/** Beside the data, so that it comes into its place by a name. */
const fresh = join(root, `.restored${unfinished}`)

/**
 * Puts restored data in the place of a member's. What was there is moved aside. It may be cut at any moment: whoever comes
 * again goes on, and a member that has its data is left as it is.
 */
export async function placeEtcd(options: ResetOptions<LinuxHost>, wish: PlaceWish): Promise<void> {
  const { host, signal } = options
  const run = { ...options, journal: await openJournal(host, options.run) }
  const op: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'change',
    target: 'directory',
    name: etcdData,
    because: [`snapshot ${wish.restore.snapshot.slice(0, 12)}`],
  }
  await journalRun(run, { command: 'restore etcd' }, async () => {
    await runOp(run, op, async () => place(host, wish, signal))
  })
}

/** A restore that was begun here, and of which nobody has said that it is over. */
export async function restoring(host: LinuxHost): Promise<EtcdRestore | undefined> {
  return (await readMemory(host))?.restore
}

/** Of another restore nothing is forgotten. */
export async function endRestore(host: LinuxHost, id: string): Promise<void> {
  if ((await readMemory(host))?.restore.id === id) await forgetMemory(host)
}

async function place(host: LinuxHost, wish: PlaceWish, signal: AbortSignal): Promise<Outcome> {
  await refuseRunning(host)
  let memory = await begun(host, wish.restore)
  if (memory.restore.state === 'placed') return 'unchanged'
  if (!(await isAt(host, etcdData, memory.data))) {
    if (!(await isAt(host, fresh, memory.data))) memory = await unpack(host, wish, memory, signal)
    signal.throwIfAborted()
    await clear(host, memory)
    await host.files.rename(fresh, etcdData)
  }
  await tidy(host, wish)
  await writeMemory(host, { ...memory, restore: { ...memory.restore, state: 'placed' } })
  return 'done'
}

/** From the first moment on the host knows of it: what was placed by one that never ended is nothing to keep. */
async function begun(host: LinuxHost, restore: EtcdRestoreId): Promise<RestoreMemory> {
  const before = await readMemory(host)
  if (before?.restore.id === restore.id) return before
  const discarded = before?.data ?? before?.discarded
  const memory: RestoreMemory = {
    restore: { ...restore, state: 'begun' },
    ...(discarded === undefined ? {} : { discarded }),
  }
  await writeMemory(host, memory)
  return memory
}

async function isAt({ files }: LinuxHost, path: string, inode: string | undefined): Promise<boolean> {
  return inode !== undefined && (await files.stat(path))?.inode === inode
}

/** Only once all of it is on the disk is it known by its inode. */
async function unpack(
  host: LinuxHost,
  { sha256 }: PlaceWish,
  begunWith: RestoreMemory,
  signal: AbortSignal,
): Promise<RestoreMemory> {
  const { files, layout, tar } = host
  const { data: _, ...memory } = begunWith
  const archive = join(layout.delivered, deliveredFile(sha256))
  if ((await files.stat(archive)) === undefined || (await files.digest(archive)) !== sha256) {
    throw new HyperkubeError('ETCD_RESTORE_NOT_BROUGHT', 'the data that was to be brought is not there', {
      component: 'etcd',
      hint: 'the same restore again brings it',
    })
  }
  await writeMemory(host, memory)
  await files.removeTree(fresh)
  const access = await accessOf(host, { owner: etcdUser, mode: '0700' })
  await files.makeDirectory(fresh, access)
  await tar.unpack({ path: archive, into: fresh, strip: 0 }, signal)
  await give(host, fresh)
  await files.syncTree(fresh)
  const facts = await files.stat(fresh)
  if (facts === undefined) throw new Error(`${fresh} has gone while it was written`)
  const whole = { ...memory, data: facts.inode }
  await writeMemory(host, whole)
  return whole
}

/** All of it is its user's, and nobody else's. */
async function give(host: LinuxHost, directory: string): Promise<void> {
  for (const { name, kind } of (await host.files.list(directory)) ?? []) {
    const path = join(directory, name)
    const mode = kind === 'directory' ? '0700' : '0600'
    await host.files.setAccess(path, await accessOf(host, { owner: etcdUser, mode }))
    if (kind === 'directory') await give(host, path)
  }
}

/** Makes room for the new data. What a restore before this one has brought is of no use to anybody. */
async function clear(host: LinuxHost, { discarded }: RestoreMemory): Promise<void> {
  if (await isAt(host, etcdData, discarded)) await host.files.removeTree(etcdData)
  else await setAside(host, formerPrefix)
}

async function tidy(host: LinuxHost, { sha256 }: PlaceWish): Promise<void> {
  await tidyAside(host, formerPrefix)
  await host.files.remove(join(host.layout.delivered, deliveredFile(sha256)))
}
