import type { ControllerDefinition } from './controller.ts'
import { addonDrift } from './controllers/addon-drift.ts'
import { addonReconciler } from './controllers/addon-reconciler.ts'
import { certificateRenewal } from './controllers/certificate-renewal.ts'
import { clusterStatusController } from './controllers/cluster-status.ts'
import { etcdMaintenance } from './controllers/etcd-maintenance.ts'
import { fleetMember } from './controllers/fleet-member.ts'
import { fleetRollout } from './controllers/fleet-rollout.ts'
import { fleetStatus } from './controllers/fleet-status.ts'
import { kubeletServingApprover } from './controllers/kubelet-serving-approver.ts'
import { diskCordoner } from './controllers/disk-cordoner.ts'
import { nodeConditions } from './controllers/node-conditions.ts'
import { snapshotSchedule } from './controllers/snapshot-schedule.ts'
import { versionSkew } from './controllers/version-skew.ts'

/** All controllers. A new controller needs a file in controllers/ and an entry here. */
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
  fleetMember,
  fleetStatus,
  fleetRollout,
]
