import { etcdBorn, etcdData } from '../../../contract/etcd-restore.ts'
import type { Op } from '../../../contract/op.ts'
import type { LinuxHost } from '../../host/host.ts'
import { openJournal } from '../journal.ts'
import { lastPlan } from '../applied-plan.ts'
import type { ResetOptions } from '../reset/reset.ts'
import { journalRun, type Outcome, runOp } from '../run-op.ts'
import { refuseRunning } from './refuse-running-etcd.ts'
import { setAside, tidyAside } from './move-data-aside.ts'

const prefix = 'before-rejoin-'

/**
 * Makes a host one that never had a member of etcd, so that it can join the others as a new one. What its member had is
 * moved aside. That a member was born here is forgotten last: until then nobody starts one without data.
 */
export async function clearEtcd(options: ResetOptions<LinuxHost>): Promise<void> {
  const { host } = options
  const run = { ...options, journal: await openJournal(host, options.run) }
  const op: Op = {
    component: 'etcd',
    stage: 'etcd',
    action: 'remove',
    target: 'directory',
    name: etcdData,
    because: ['its member joins etcd anew'],
  }
  await journalRun(run, { command: 'clear etcd' }, async () => {
    await runOp(run, op, async () => clear(host))
  })
}

async function clear(host: LinuxHost): Promise<Outcome> {
  await refuseRunning(host)
  const { files } = host
  const hadData = await setAside(host, prefix)
  await tidyAside(host, prefix)
  // How it was born is read at a birth alone, and this will be another one.
  const component = (await lastPlan(host))?.components.find(({ name }) => name === 'etcd')
  for (const { path, once } of component?.files ?? []) if (once === true) await files.remove(path)
  const wasBorn = await files.remove(etcdBorn)
  return hadData || wasBorn ? 'done' : 'unchanged'
}
