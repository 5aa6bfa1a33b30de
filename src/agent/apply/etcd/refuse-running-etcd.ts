import { etcdUnit } from '../../../contract/etcd-restore.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { LinuxHost } from '../../host/host.ts'
import { isDown } from '../../host/systemd.ts'

/** Throws if etcd runs, because its data must not be replaced while it is in use. */
export async function refuseRunningEtcd({ systemd }: LinuxHost): Promise<void> {
  if (isDown(await systemd.show(etcdUnit))) return
  throw new HyperkubeError('ETCD_RESTORE_RUNNING', 'etcd runs, and its data cannot be replaced', {
    component: 'etcd',
    hint: 'it was started meanwhile: the same command again stops it first',
  })
}
