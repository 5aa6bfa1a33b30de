import { addonCodes } from './addon.ts'
import { adoptionCodes } from './adoption.ts'
import { agentCodes, claimCodes } from './agent.ts'
import { bundleCodes } from './bundle.ts'
import { conformanceCodes } from './conformance.ts'
import { doctorCodes } from './doctor.ts'
import { ejectCodes } from './eject.ts'
import { etcdCodes } from './etcd.ts'
import { contractCodes, generalCodes } from './general.ts'
import { healCodes, healthCodes } from './health.ts'
import { fleetCodes } from './fleet.ts'
import { hostCodes, networkPreflightCodes } from './host.ts'
import { identityCodes } from './identity.ts'
import { kubeCodes, nodeCodes, proxyCodes } from './kube.ts'
import { lifecycleCodes } from './lifecycle.ts'
import { linuxHostCodes } from './linux-host.ts'
import { catalogCodes, lockCodes } from './cluster-lock.ts'
import { managerCodes } from './manager.ts'
import { keyRotationCodes, pkiCodes, renewalCodes } from './pki.ts'
import { planCodes } from './plan.ts'
import { provisionalCodes } from './provisional.ts'
import { rolloutCodes } from './rollout.ts'
import { snapshotCodes } from './snapshot.ts'
import { specCodes } from './spec.ts'
import { sshCodes } from './ssh.ts'
import type { ErrorCodeEntries } from './entry.ts'
import { windowsHostCodes } from './windows-host.ts'

export interface ErrorCodeArea {
  readonly title: string
  readonly entries: ErrorCodeEntries
}

/**
 * All error codes by area, in the order in which an operator meets the areas. A new area needs a new file and
 * an entry here.
 */
export const errorCodeAreas: readonly ErrorCodeArea[] = [
  { title: 'The command line', entries: generalCodes },
  { title: 'cluster.yml', entries: specCodes },
  { title: 'Fleets', entries: fleetCodes },
  { title: 'Versions and flags', entries: catalogCodes },
  { title: 'The lock and downloads', entries: lockCodes },
  { title: 'Images and bundles', entries: bundleCodes },
  { title: 'The identity and its key', entries: identityCodes },
  { title: 'Adoption of running clusters', entries: adoptionCodes },
  { title: 'Handing a cluster over to kubeadm', entries: ejectCodes },
  { title: 'Hosts', entries: hostCodes },
  { title: 'Linux hosts', entries: linuxHostCodes },
  { title: 'Windows hosts', entries: windowsHostCodes },
  { title: 'ssh connections', entries: sshCodes },
  { title: 'The network between hosts', entries: networkPreflightCodes },
  { title: 'The plan', entries: planCodes },
  { title: 'Rollouts and upgrades', entries: rolloutCodes },
  { title: 'The operator lock', entries: claimCodes },
  { title: 'Agents and their operations', entries: agentCodes },
  { title: 'The Kubernetes API', entries: kubeCodes },
  { title: 'etcd', entries: etcdCodes },
  { title: 'Snapshots of etcd', entries: snapshotCodes },
  { title: 'Applying plans', entries: lifecycleCodes },
  { title: 'Provisional changes', entries: provisionalCodes },
  { title: 'Nodes and their pods', entries: nodeCodes },
  { title: 'Findings of doctor', entries: doctorCodes },
  { title: 'Health probes', entries: healthCodes },
  { title: 'Healing', entries: healCodes },
  { title: 'Addons', entries: addonCodes },
  { title: 'Certificates', entries: pkiCodes },
  { title: 'Certificate renewal', entries: renewalCodes },
  { title: 'Key rotation', entries: keyRotationCodes },
  { title: 'apiserver-proxy', entries: proxyCodes },
  { title: 'The controller manager', entries: managerCodes },
  { title: 'Conformance tests', entries: conformanceCodes },
  { title: 'Document formats', entries: contractCodes },
]

export const errorCodes: ErrorCodeEntries = Object.fromEntries(
  errorCodeAreas.flatMap(({ entries }) => Object.entries(entries)),
)
