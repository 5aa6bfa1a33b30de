import { addon } from './addon.ts'
import { agent } from './agent.ts'
import { bundle } from './bundle.ts'
import { catalog } from './catalog.ts'
import { claim } from './claim.ts'
import { conformance } from './conformance.ts'
import { contract } from './contract.ts'
import { doctor } from './doctor.ts'
import type { Entries } from './entry.ts'
import { etcd } from './etcd.ts'
import { general } from './general.ts'
import { heal } from './heal.ts'
import { health } from './health.ts'
import { host } from './host.ts'
import { identity } from './identity.ts'
import { keys } from './key-rotation.ts'
import { kube } from './kube.ts'
import { lifecycle } from './lifecycle.ts'
import { linuxHost } from './linux-host.ts'
import { lock } from './lock.ts'
import { manager } from './manager.ts'
import { node } from './node.ts'
import { peers } from './network-preflight.ts'
import { pki } from './pki.ts'
import { plan } from './plan.ts'
import { proxy } from './proxy.ts'
import { renewal } from './renewal.ts'
import { rollout } from './rollout.ts'
import { snapshot } from './snapshot.ts'
import { spec } from './spec.ts'
import { ssh } from './ssh.ts'
import { trial } from './provisional.ts'
import { windowsHost } from './windows-host.ts'

export interface Area {
  readonly title: string
  readonly entries: Entries
}

/** All that can be wrong, in the order in which a person meets it. A new area is a new file and a line here. */
export const areas: readonly Area[] = [
  { title: 'The command line', entries: general },
  { title: 'cluster.yml', entries: spec },
  { title: 'Versions and flags', entries: catalog },
  { title: 'The lock, and where files come from', entries: lock },
  { title: 'Images and bundles', entries: bundle },
  { title: 'The identity and its key', entries: identity },
  { title: 'Hosts', entries: host },
  { title: 'Linux hosts', entries: linuxHost },
  { title: 'Windows hosts', entries: windowsHost },
  { title: 'The way to hosts: ssh', entries: ssh },
  { title: 'Hosts among each other', entries: peers },
  { title: 'The plan', entries: plan },
  { title: 'The order across hosts', entries: rollout },
  { title: 'Who may change the cluster', entries: claim },
  { title: 'What is done on a host', entries: agent },
  { title: 'The Kubernetes API', entries: kube },
  { title: 'etcd', entries: etcd },
  { title: 'Snapshots of etcd', entries: snapshot },
  { title: 'Bringing hosts to their plan', entries: lifecycle },
  { title: 'Changes on trial', entries: trial },
  { title: 'Nodes and their pods', entries: node },
  { title: 'What doctor finds', entries: doctor },
  { title: 'What probes of hosts see', entries: health },
  { title: 'What agents heal', entries: heal },
  { title: 'Addons', entries: addon },
  { title: 'Certificates', entries: pki },
  { title: 'Certificates that renew themselves', entries: renewal },
  { title: 'Keys that change hands', entries: keys },
  { title: 'The way to the API', entries: proxy },
  { title: 'The controller manager', entries: manager },
  { title: 'Upstream’s conformance tests', entries: conformance },
  { title: 'Documents between programs', entries: contract },
]

export const catalogue: Entries = Object.fromEntries(areas.flatMap(({ entries }) => Object.entries(entries)))
