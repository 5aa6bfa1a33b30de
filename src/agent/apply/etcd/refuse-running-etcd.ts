import { etcdUnit } from '../../../contract/etcd-restore.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { LinuxHost } from '../../host/host.ts'
import { isDown } from '../../host/systemd.ts'

/** Nobody takes the data of an etcd that runs. */
export async function refuseRunning({ systemd }: LinuxHost): Promise<void> {
  if (isDown(await systemd.show(etcdUnit))) return
  throw new HyperkubeError('ETCD_RESTORE_RUNNING', 'etcd runs, and its data cannot be replaced', {
    component: 'etcd',
    hint: 'somebody has started it: the same command again stops it first',
  })
}
