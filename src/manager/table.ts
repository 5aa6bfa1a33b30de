import type { ControllerRow } from './controller.ts'
import { addonKeeper } from './controllers/addon-keeper/addon-keeper.ts'
import { addonMender } from './controllers/addon-keeper/addon-mender.ts'
import { certificateRenewal } from './controllers/certificate-renewal/certificate-renewal.ts'
import { clusterStatusKeeper } from './controllers/cluster-status/cluster-status.ts'
import { etcdKeeper } from './controllers/etcd-keeper/etcd-keeper.ts'
import { kubeletServingApprover } from './controllers/kubelet-serving-approver/kubelet-serving-approver.ts'
import { diskCordoner } from './controllers/node-keeper/disk-cordoner.ts'
import { nodeKeeper } from './controllers/node-keeper/node-keeper.ts'
import { snapshotSchedule } from './controllers/snapshot-schedule/snapshot-schedule.ts'
import { versionSkew } from './controllers/version-skew/version-skew.ts'

/** Every controller there is. A new one is a folder beside the others, and a row here. */
export const controllers: readonly ControllerRow[] = [
  versionSkew,
  kubeletServingApprover,
  certificateRenewal,
  etcdKeeper,
  snapshotSchedule,
  nodeKeeper,
  diskCordoner,
  addonKeeper,
  addonMender,
  clusterStatusKeeper,
]
