import { formatCount, joinNames } from '../../kit/text.ts'
import type { AdoptionItem } from './adoption-report.ts'
import { toolNames } from './checks/check.ts'
import { caPaths } from './existing-keys.ts'
import { listLost } from './lost-settings.ts'
import { findArgs, readNetworks } from './network-settings.ts'
import {
  type AdoptionObservation,
  findComponent,
  findKubeProxyMode,
  listAdoptedControlPlanes,
} from './observation.ts'
import { describePodNetwork } from './pod-network.ts'
import { addonNamespaces } from './read-api.ts'

/** Lists what an adoption keeps, changes and loses. */
export function listEffects(observation: AdoptionObservation): readonly AdoptionItem[] {
  return [...listKept(observation), ...listChanged(observation), ...listLost(observation)]
}

const kept = (code: string, message: string): AdoptionItem => ({ verdict: 'kept', code, message })
const changed = (code: string, message: string, next?: string): AdoptionItem => ({
  verdict: 'changed',
  code,
  message,
  ...(next === undefined ? {} : { next }),
})
function listKept(observation: AdoptionObservation): AdoptionItem[] {
  const { api, etcd, hosts, from } = observation
  const { pods, services, domain } = readNetworks(observation)
  const [server] = listAdoptedControlPlanes(observation)
  const issuer = (server && findComponent(server, 'kube-apiserver'))?.args['service-account-issuer']
  const paths = new Set(Object.values(caPaths[from]).map(({ certificate }) => certificate))
  const cas = (server?.certificates ?? []).filter(({ path }) => paths.has(path))
  const until = cas.map(({ notAfter }) => notAfter.toISOString().slice(0, 10)).toSorted()[0]
  const encrypted = hosts.find(({ encryption }) => encryption !== undefined)?.encryption ?? []
  return [
    ...(api === undefined ? [] : [kept('ADOPT_KEEPS_VERSION', `Kubernetes ${api.version}`)]),
    kept('ADOPT_KEEPS_NODES', `nodes and their names: ${joinNames(hosts.map(({ nodeName }) => nodeName))}`),
    ...(etcd === undefined
      ? []
      : [kept('ADOPT_KEEPS_ETCD', `etcd data of ${joinNames(etcd.members.map(({ name }) => name))}`)]),
    kept(
      'ADOPT_KEEPS_NETWORKS',
      `pod network ${pods.join(', ')}, service network ${services.join(', ')}, domain ${domain}`,
    ),
    kept(
      'ADOPT_KEEPS_CAS',
      `all CAs with their keys${until === undefined ? '' : `; the first one expires on ${until}`}`,
    ),
    kept('ADOPT_KEEPS_TOKENS', `service account tokens: the same key, issuer ${issuer ?? 'unknown'}`),
    ...(encrypted.length === 0
      ? []
      : [
          kept(
            'ADOPT_KEEPS_ENCRYPTION',
            `keys that encrypt ${encrypted.flatMap(({ resources }) => resources).join(', ')} in etcd`,
          ),
        ]),
    ...describePolicies(observation),
    describeKeptNetwork(observation),
    kept(
      'ADOPT_KEEPS_OBJECTS',
      `all objects of the API; ${describeAddons(observation)} stay as they are, and hyperkube does not manage them`,
    ),
  ]
}

/** Says whether NetworkPolicy objects have an effect. An adoption must not begin to enforce them. */
function describePolicies(observation: AdoptionObservation): AdoptionItem[] {
  const count = observation.api?.networkPolicies ?? 0
  const network = describePodNetwork(observation)
  if (count === 0 || network.kind === 'unsupported') return []
  const isEnforced = network.kind === 'canal' || network.kubeRouter
  const effect = isEnforced ? 'stay enforced' : 'stay without effect, because flannel alone enforces none'
  return [kept('ADOPT_KEEPS_POLICIES', `${formatCount(count, 'NetworkPolicy object')} ${effect}`)]
}

/** Says that programs of the pod network stay. */
function describeKeptNetwork(observation: AdoptionObservation): AdoptionItem {
  const network = describePodNetwork(observation)
  const programs = [
    network.kind === 'unsupported' ? network.name : network.kind === 'canal' ? 'canal' : 'flannel',
    ...(network.kind === 'flannel' && network.kubeRouter ? ['kube-router'] : []),
    ...(observation.from === 'kubeadm' ? ['kube-proxy'] : []),
  ]
  const verb = programs.length === 1 ? 'stays as it is' : 'stay as they are'
  const object = programs.length === 1 ? 'it' : 'them'
  return kept(
    'ADOPT_KEEPS_POD_NETWORK',
    `${joinNames(programs)} ${verb}, and hyperkube does not manage ${object}`,
  )
}

/** Names the addons that run in the cluster. */
function describeAddons({ api }: AdoptionObservation): string {
  const workloads = [...(api?.deployments ?? []), ...(api?.daemonSets ?? [])].filter(({ namespace }) =>
    addonNamespaces.some((one) => one === namespace),
  )
  const names = workloads
    .map(({ name }) => name)
    .filter((name) => !/^(?:kube-proxy|kube-flannel.*|canal|kube-router)$/.test(name))
  return names.length === 0 ? 'workloads' : `${joinNames([...new Set(names)])} and other workloads`
}

function listChanged(observation: AdoptionObservation): AdoptionItem[] {
  const { from, hosts, api } = observation
  const runtimes = [...new Set((api?.nodes ?? []).map(({ runtime }) => runtime))]
  const parts = from === 'kubeadm' ? 'static pods' : 'Docker containers'
  return [
    changed(
      'ADOPT_CHANGES_COMPONENTS',
      `Kubernetes components become systemd services instead of ${parts}; ${toolNames[from]} must not be used any more`,
    ),
    changed(
      'ADOPT_CHANGES_CERTIFICATES',
      'hosts get new certificates of the same CAs, and renew them by themselves',
    ),
    changed('ADOPT_CHANGES_RUNTIME', describeRuntimeChange(from, runtimes)),
    ...(hosts.some((host) => findComponent(host, 'etcd') !== undefined)
      ? [
          changed(
            'ADOPT_CHANGES_ETCD_DIRECTORY',
            'etcd data moves inside of its disk, from /var/lib/etcd to /var/lib/etcd/data',
          ),
        ]
      : []),
    ...(from === 'kubeadm' ? [] : [describeKubeProxyChange(observation)]),
    ...listKubeletChanges(from),
    ...listAdmissionChanges(observation),
    ...listMetricsChanges(observation),
  ]
}

/** Says that API servers refuse Services that the other tool's accept. Existing ones stay as they are. */
function listAdmissionChanges(observation: AdoptionObservation): AdoptionItem[] {
  const plugin = 'DenyServiceExternalIPs'
  const args = findArgs(observation, 'kube-apiserver')
  // cluster.yml keeps the flag that disables it.
  const lists = [args['enable-admission-plugins'], args['disable-admission-plugins']]
  if (lists.some((list) => list?.includes(plugin))) return []
  return [
    changed(
      'ADOPT_CHANGES_EXTERNAL_IPS',
      'new external addresses of Services (externalIPs) are refused; those of existing Services stay',
      `to allow them as before, set spec.components.apiServer.args in cluster.yml: { disable-admission-plugins: ${plugin} }`,
    ),
  ]
}

/** Ports with metrics of components that listen on all addresses unless a flag says otherwise. */
const metricsPorts = [
  ['kube-controller-manager', 10_257, 'controllerManager'],
  ['kube-scheduler', 10_259, 'scheduler'],
] as const

/** Says that metrics are reachable only on their host. RKE1 sets no address. A set one is a flag that is lost. */
function listMetricsChanges({ hosts }: AdoptionObservation): AdoptionItem[] {
  const open = metricsPorts.filter(([name]) =>
    hosts.some((host) => {
      const component = findComponent(host, name)
      return component !== undefined && component.args['bind-address'] === undefined
    }),
  )
  if (open.length === 0) return []
  const keys = open.map(([, , key]) => `spec.components.${key}.args`)
  return [
    changed(
      'ADOPT_CHANGES_METRICS_ADDRESS',
      `metrics of ${joinNames(open.map(([name, port]) => `${name} (port ${port})`))} are served at 127.0.0.1 instead of all addresses`,
      `if Prometheus reads them from other hosts, set bind-address: 0.0.0.0 in ${joinNames(keys)} of cluster.yml`,
    ),
  ]
}

function describeRuntimeChange(from: AdoptionObservation['from'], runtimes: readonly string[]): string {
  const previous = runtimes.length === 0 ? 'the container runtime' : joinNames(runtimes)
  return from === 'kubeadm'
    ? `the containerd of cluster.lock takes over the running containers of ${previous}`
    : `the containerd of cluster.lock replaces ${previous}; pods are created again`
}

/** Lists what the other settings of hyperkube's kubelets change. */
function listKubeletChanges(from: AdoptionObservation['from']): AdoptionItem[] {
  return [
    changed(
      'ADOPT_CHANGES_KUBELET_ACCESS',
      'kubectl logs, exec and port-forward work again for a node once its host has moved, because API servers then verify the certificates of kubelets',
    ),
    changed(
      'ADOPT_CHANGES_POD_DEFAULTS',
      'pods that are created later get the seccomp profile RuntimeDefault and at most 4096 processes, unless they or cluster.yml set others',
      `to keep the defaults of ${toolNames[from]}, set spec.components.kubelet.config in cluster.yml: { seccompDefault: false, podPidsLimit: -1 }`,
    ),
  ]
}

function describeKubeProxyChange(observation: AdoptionObservation): AdoptionItem {
  const mode = findKubeProxyMode(observation)
  return changed(
    'ADOPT_CHANGES_KUBE_PROXY_SERVICE',
    `kube-proxy becomes a service of each host${mode === 'ipvs' ? ', with nftables or iptables instead of ipvs' : mode === undefined ? '' : `, in mode ${mode} as before`}`,
  )
}
