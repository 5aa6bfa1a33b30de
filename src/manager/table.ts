import type { ControllerDefinition } from './controller.ts'
import { addonDrift } from './controllers/addon-drift/addon-drift.ts'
import { addonReconciler } from './controllers/addon-drift/addon-reconciler.ts'
import { certificateRenewal } from './controllers/certificate-renewal/certificate-renewal.ts'
import { clusterStatusController } from './controllers/cluster-status/cluster-status.ts'
import { etcdMaintenance } from './controllers/etcd-maintenance/etcd-maintenance.ts'
import { kubeletServingApprover } from './controllers/kubelet-serving-approver/kubelet-serving-approver.ts'
import { diskCordoner } from './controllers/node-conditions/disk-cordoner.ts'
import { nodeConditions } from './controllers/node-conditions/node-conditions.ts'
import { snapshotSchedule } from './controllers/snapshot-schedule/snapshot-schedule.ts'
import { versionSkew } from './controllers/version-skew/version-skew.ts'

/** All controllers. A new controller needs its own folder in controllers/ and an entry here. */
export const controllers: readonly ControllerDefinition[] = [
  versionSkew,
  kubeletServingApprover,
  certificateRenewal,
  etcdMaintenance,
  snapshotSchedule,
  nodeConditions,
  diskCordoner,
  addonDrift,
  addonReconciler,
  clusterStatusController,
]
