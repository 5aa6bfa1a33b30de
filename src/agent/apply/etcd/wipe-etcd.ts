import { etcdInitializedFile, etcdDataDirectory } from '../../../contract/etcd-restore.ts'
import type { Op } from '../../../contract/op.ts'
import type { LinuxHost } from '../../host/host.ts'
import { openJournal } from '../journal.ts'
import { readAppliedPlan } from '../applied-plan.ts'
import type { ResetOptions } from '../reset/reset-options.ts'
import { journalRun, type OpOutcome, runOp } from '../run-op.ts'
import { refuseRunningEtcd } from './refuse-running-etcd.ts'
import { moveDataAside, pruneMovedData } from './move-data-aside.ts'

const prefix = 'before-rejoin-'

/**
 * Wipes the etcd member of a host, so that it can join again as a new member. Its data is moved aside. The
 * initialized marker is removed last: while it exists, no plan starts a member without data.
 */
export async function wipeEtcd(options: ResetOptions<LinuxHost>): Promise<void> {
  const { host } = options
  const run = { ...options, journal: await openJournal(host, options.run) }
  const op: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'remove',
    target: 'directory',
    name: etcdDataDirectory,
    because: ['its member joins etcd again'],
  }
  await journalRun(run, { command: 'clear etcd' }, async () => {
    await runOp(run, op, async () => wipeMember(host))
  })
}

async function wipeMember(host: LinuxHost): Promise<OpOutcome> {
  await refuseRunningEtcd(host)
  const { files } = host
  const hadData = await moveDataAside(host, prefix)
  await pruneMovedData(host, prefix)
  // Files with `once` describe how the member was initialized. The new member needs new ones.
  const component = (await readAppliedPlan(host))?.components.find(({ name }) => name === 'etcd')
  for (const { path, once } of component?.files ?? []) if (once === true) await files.remove(path)
  const wasInitialized = await files.remove(etcdInitializedFile)
  return hadData || wasInitialized ? 'done' : 'unchanged'
}
