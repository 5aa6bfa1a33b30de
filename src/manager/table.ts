import type { ControllerRow } from './controller.ts'
import { addonKeeper } from './controllers/addon-drift/addon-drift.ts'
import { addonMender } from './controllers/addon-drift/addon-reconciler.ts'
import { certificateRenewal } from './controllers/certificate-renewal/certificate-renewal.ts'
import { clusterStatusKeeper } from './controllers/cluster-status/cluster-status.ts'
import { etcdKeeper } from './controllers/etcd-maintenance/etcd-maintenance.ts'
import { kubeletServingApprover } from './controllers/kubelet-serving-approver/kubelet-serving-approver.ts'
import { diskCordoner } from './controllers/node-conditions/disk-cordoner.ts'
import { nodeKeeper } from './controllers/node-conditions/node-conditions.ts'
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
