import { dirname, join } from 'node:path'
import {
  etcdDataDirectory,
  type EtcdRestoreId,
  type EtcdRestoreProgress,
  type EtcdRestoreState,
  etcdRestoreStateFormat,
  etcdUser,
} from '../../contract/etcd-restore.ts'
import { uploadedFilePath } from '../../contract/host-paths.ts'
import type { Op } from '../../contract/op.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { unfinishedSuffix } from '../host/files.ts'
import type { LinuxHost } from '../host/host.ts'
import { openJournal } from '../records/journal.ts'
import { resolveAccess } from '../host/file-access.ts'
import type { HostRunOptions } from '../reset/stop-services.ts'
import { journalRun, type OpOutcome, runOp } from '../records/run-op.ts'
import { statePath, writeState } from '../records/state-file.ts'
import { moveDataAside, pruneMovedData, refuseRunningEtcd } from './wipe-etcd.ts'

const restoreStateFile = 'etcd-restore.json'

type RestoreState = Omit<EtcdRestoreState, 'apiVersion' | 'kind'>

/**
 * Reads the state of the active restore. Throws if the file is unreadable, because a restore may still be
 * active.
 */
async function readRestoreState(host: LinuxHost): Promise<RestoreState | undefined> {
  const text = await host.files.read(statePath(host, restoreStateFile))
  if (text === undefined) return undefined
  const document = readVersioned(etcdRestoreStateFormat, JSON.parse(text.toString('utf8')))
  const { apiVersion: _, kind: __, ...state } = document
  return state
}

async function writeRestoreState(host: LinuxHost, state: RestoreState): Promise<void> {
  const document: EtcdRestoreState = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'EtcdRestoreState',
    ...state,
  }
  await writeState(host, restoreStateFile, document)
}

async function deleteRestoreState(host: LinuxHost): Promise<void> {
  await host.files.remove(statePath(host, restoreStateFile))
}

export interface EtcdDataSpec {
  readonly restore: EtcdRestoreId
  /** Digest of the uploaded archive. */
  readonly sha256: string
}

const previousPrefix = 'before-restore-'
const dataRoot = dirname(etcdDataDirectory)
/**
 * Directory for the unpacked data. It is next to the data directory, so that a rename can move it into place.
 */
const restoredPath = join(dataRoot, `.restored${unfinishedSuffix}`)

/**
 * Replaces the data of an etcd member with restored data and moves the current data aside. After an
 * interruption, a second call continues. A member whose data is already restored is left unchanged.
 */
export async function restoreEtcdData(options: HostRunOptions<LinuxHost>, spec: EtcdDataSpec): Promise<void> {
  const { host, signal } = options
  const run = { ...options, journal: await openJournal(host, options.run) }
  const op: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'change',
    target: 'directory',
    name: etcdDataDirectory,
    because: [`snapshot ${spec.restore.snapshot.slice(0, 12)}`],
  }
  await journalRun(run, { command: 'restore etcd' }, async () => {
    await runOp(run, op, async () => replaceData(host, spec, signal))
  })
}

/** Returns the restore that began on this host and has not ended yet. */
export async function findActiveRestore(host: LinuxHost): Promise<EtcdRestoreProgress | undefined> {
  return (await readRestoreState(host))?.restore
}

/** Ends a restore. Does nothing if another restore is active. */
export async function endEtcdRestore(host: LinuxHost, id: string): Promise<void> {
  if ((await readRestoreState(host))?.restore.id === id) await deleteRestoreState(host)
}

async function replaceData(host: LinuxHost, spec: EtcdDataSpec, signal: AbortSignal): Promise<OpOutcome> {
  await refuseRunningEtcd(host)
  let state = await beginRestore(host, spec.restore)
  if (state.restore.state === 'data-restored') return 'unchanged'
  if (!(await hasInode(host, etcdDataDirectory, state.dataInode))) {
    if (!(await hasInode(host, restoredPath, state.dataInode)))
      state = await unpackRestored(host, spec, state, signal)
    signal.throwIfAborted()
    await moveCurrentData(host, state)
    await host.files.rename(restoredPath, etcdDataDirectory)
  }
  await cleanUp(host, spec)
  await writeRestoreState(host, { ...state, restore: { ...state.restore, state: 'data-restored' } })
  return 'done'
}

/**
 * Saves the state of the restore before the first change. Data of an earlier unfinished restore is marked to
 * be discarded.
 */
async function beginRestore(host: LinuxHost, restore: EtcdRestoreId): Promise<RestoreState> {
  const previous = await readRestoreState(host)
  if (previous?.restore.id === restore.id) return previous
  const discarded = previous?.dataInode ?? previous?.discardedInode
  const state: RestoreState = {
    restore: { ...restore, state: 'begun' },
    ...(discarded === undefined ? {} : { discardedInode: discarded }),
  }
  await writeRestoreState(host, state)
  return state
}

async function hasInode({ files }: LinuxHost, path: string, inode: string | undefined): Promise<boolean> {
  return inode !== undefined && (await files.stat(path))?.inode === inode
}

/**
 * Unpacks the archive and saves the inode of the new data directory. The inode is saved only after all data
 * is on disk, so a saved inode means complete data.
 */
async function unpackRestored(
  host: LinuxHost,
  { sha256 }: EtcdDataSpec,
  begunState: RestoreState,
  signal: AbortSignal,
): Promise<RestoreState> {
  const { files, layout, tar } = host
  const { dataInode: _, ...state } = begunState
  const archive = join(layout.uploads, uploadedFilePath(sha256))
  if ((await files.stat(archive)) === undefined || (await files.digest(archive)) !== sha256) {
    throw new HyperkubeError('ETCD_RESTORE_NOT_UPLOADED', 'the snapshot data was not uploaded to this host', {
      component: 'etcd',
      hint: 'run the same restore command again: it uploads the data',
    })
  }
  await writeRestoreState(host, state)
  await files.removeTree(restoredPath)
  const access = await resolveAccess(host, { owner: etcdUser, mode: '0700' })
  await files.makeDirectory(restoredPath, access)
  await tar.unpack({ path: archive, into: restoredPath, strip: 0 }, signal)
  await setEtcdOwner(host, restoredPath)
  await files.syncTree(restoredPath)
  const facts = await files.stat(restoredPath)
  if (facts === undefined) throw new Error(`${restoredPath} disappeared while it was written`)
  const completeState: RestoreState = { ...state, dataInode: facts.inode }
  await writeRestoreState(host, completeState)
  return completeState
}

/** Makes everything below a directory readable by the etcd user only. */
async function setEtcdOwner(host: LinuxHost, directory: string): Promise<void> {
  for (const { name, kind } of (await host.files.list(directory)) ?? []) {
    const path = join(directory, name)
    const mode = kind === 'directory' ? '0700' : '0600'
    await host.files.setAccess(path, await resolveAccess(host, { owner: etcdUser, mode }))
    if (kind === 'directory') await setEtcdOwner(host, path)
  }
}

/** Moves the current data aside. If an earlier unfinished restore wrote this data, deletes it instead. */
async function moveCurrentData(host: LinuxHost, { discardedInode }: RestoreState): Promise<void> {
  if (await hasInode(host, etcdDataDirectory, discardedInode)) await host.files.removeTree(etcdDataDirectory)
  else await moveDataAside(host, previousPrefix)
}

async function cleanUp(host: LinuxHost, { sha256 }: EtcdDataSpec): Promise<void> {
  await pruneMovedData(host, previousPrefix)
  await host.files.remove(join(host.layout.uploads, uploadedFilePath(sha256)))
}
