import type { NodePlan } from '../../contract/node-plan.ts'
import { type EjectInput, keepsKubeadmDns, keepsKubeadmProxy } from './eject-context.ts'
import { staticPodComponents } from './layout.ts'

/** What becomes of a component of hyperkube. */
export type ComponentFate =
  | 'becomes static pod'
  | 'becomes service of kubeadm'
  | 'becomes DaemonSet'
  | 'kept as service'
  | 'kept as files'
  | 'stays as it is'
  | 'ends, left to you'

const fates: Readonly<Record<string, readonly [fate: ComponentFate, note: string]>> = {
  ...Object.fromEntries(
    staticPodComponents.map((name) => [name, ['becomes static pod', 'same arguments and data'] as const]),
  ),
  kubelet: ['becomes service of kubeadm', 'renews its client certificate itself'],
  'kube-proxy': ['becomes DaemonSet', 'kube-system/kube-proxy'],
  containerd: ['kept as service', 'programs stay in /opt/hyperkube; updates are left to you'],
  flanneld: ['kept as service', 'its kubeconfig is valid for a year'],
  'kube-router': ['kept as service', 'its kubeconfig is valid for a year'],
  'hyperkube-keepalived': ['kept as service', 'the virtual IP of the API stays'],
  'hyperkube-agent': ['ends, left to you', 'healing, renewal of certificates, snapshots'],
  'hyperkube-controller-manager': [
    'ends, left to you',
    'scheduled snapshots, approval of serving certificates',
  ],
  'apiserver-proxy': ['ends, left to you', 'nodes use controlPlaneEndpoint'],
}

export interface ComponentRow {
  readonly component: string
  readonly hosts: readonly string[]
  readonly fate: ComponentFate
  readonly note: string
}

/** Lists what becomes of each component. Components without a service leave files, such as kernel settings. */
export function listComponentFates(input: EjectInput): readonly ComponentRow[] {
  return [...listPlannedFates(input), ...listKubeadmAddons(input)]
}

function listPlannedFates({ plans }: EjectInput): readonly ComponentRow[] {
  const names = [...new Set(plans.flatMap(({ components }) => components.map(({ name }) => name)))]
  return names.map((component) => {
    const hosts = plans
      .filter(({ components }) => components.some(({ name }) => name === component))
      .map(({ host }) => host)
    const [fate, note] = fates[component] ?? ['kept as files', '']
    return { component, hosts, fate, note }
  })
}

/** Lists the addons of kubeadm that an adopted cluster still has. hyperkube does not manage them. */
function listKubeadmAddons(input: EjectInput): readonly ComponentRow[] {
  const hosts = input.plans.flatMap(({ node, host }) => (node === undefined ? [] : [host]))
  const build = (component: string, kind: string): ComponentRow => ({
    ...{ component, hosts, fate: 'stays as it is' },
    note: `${kind} of kubeadm; kubeadm upgrade updates it again`,
  })
  return [
    ...(keepsKubeadmProxy(input) ? [build('kube-proxy', 'DaemonSet')] : []),
    ...(keepsKubeadmDns(input) ? [{ ...build('coredns', 'Deployment'), hosts: [] }] : []),
  ]
}

/** Lists the units of a host that end, in the order in which they stop. The agent is first: it would heal others. */
export function listEndingUnits({ components }: NodePlan): readonly string[] {
  const ending = components
    .filter(({ name, service }) => service !== undefined && !isKept(name))
    .map(({ name }) => name)
    .toReversed()
  return [
    ...ending.filter((name) => name === 'hyperkube-agent'),
    ...ending.filter((name) => name !== 'hyperkube-agent'),
  ]
}

/**
 * Lists the services of a host that keep running and connect to the API. They get a kubeconfig without
 * hyperkube's proxy.
 */
export function listKeptClients({ components }: NodePlan): readonly string[] {
  return components.map(({ name }) => name).filter((name) => name === 'flanneld' || name === 'kube-router')
}

function isKept(component: string): boolean {
  return fates[component]?.[0] === 'kept as service'
}
