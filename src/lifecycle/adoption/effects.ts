import { formatCount, joinNames } from '../../kit/text.ts'
import { type AdoptedProgram, adoptedPrograms, sortFlags } from './adopted-flags.ts'
import type { AdoptionItem } from './adoption-report.ts'
import { toolNames } from './checks/check.ts'
import { listDefaultFlags } from './cluster-settings.ts'
import { caPaths } from './existing-keys.ts'
import { listRoles, nameHosts } from './host-settings.ts'
import { listLostKubeletFields, listLostKubeletFlags } from './kubelet-settings.ts'
import { readNetworks } from './network-settings.ts'
import {
  type AdoptionObservation,
  findComponent,
  findKubeProxyMode,
  findNode,
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
const lost = (code: string, message: string, next: string): AdoptionItem => ({
  verdict: 'lost',
  code,
  message,
  next,
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
    changed(
      'ADOPT_CHANGES_ADMISSION',
      'Services get no new externalIPs, because the admission plugin DenyServiceExternalIPs refuses them',
      'if users need them, set spec.components.apiServer.args in cluster.yml: { disable-admission-plugins: DenyServiceExternalIPs }',
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

/** Lists flags of a component that cluster.yml does not keep. It has one value for all control planes. */
function listLostFlags(observation: AdoptionObservation, program: AdoptedProgram): AdoptionItem[] {
  const servers = listAdoptedControlPlanes(observation)
  const sorted = servers.map((server) =>
    sortFlags(
      observation.from,
      program,
      findComponent(server, program)?.args ?? {},
      listDefaultFlags(observation),
    ),
  )
  const lostNames = new Set(sorted.flatMap((one) => one.lost))
  const [first] = sorted
  const different = new Set(
    sorted
      .flatMap(({ kept: flags }) => Object.keys(flags))
      .filter((name) => sorted.some((one) => one.kept[name] !== first?.kept[name])),
  )
  const format = (names: ReadonlySet<string>): string => [...names].map((name) => `--${name}`).join(', ')
  return [
    ...(lostNames.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_FLAGS',
            `flags of ${program}: ${format(lostNames)}`,
            'if the cluster needs them, set spec.components in cluster.yml',
          ),
        ]),
    ...(different.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_FLAGS',
            `flags of ${program} that differ between control planes: ${format(different)}; those of ${servers[0]?.address} are kept`,
            'compare the manifests, and check spec.components in cluster.yml',
          ),
        ]),
  ]
}

/** Lists environment variables of static pods. kubeadm copies those of a proxy from the shell of its operator. */
function listLostEnvironment({ hosts }: AdoptionObservation): AdoptionItem[] {
  return adoptedPrograms.flatMap((program) => {
    const names = new Set(hosts.flatMap((host) => findComponent(host, program)?.environment ?? []))
    if (names.size === 0) return []
    return [
      lost(
        'ADOPT_LOSES_ENVIRONMENT',
        `environment variables of ${program}: ${joinNames([...names])}`,
        'check that the component works without them: webhooks and OIDC are then reached without a proxy',
      ),
    ]
  })
}

/** Lists settings in files of the hosts that the units and configurations of hyperkube replace. */
function listLostHostSettings({ hosts }: AdoptionObservation): AdoptionItem[] {
  const settings = new Set(hosts.flatMap(({ runtime }) => runtime.settings ?? []))
  const dropIns = new Set(hosts.flatMap((host) => host.dropIns ?? []))
  return [
    ...(settings.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_RUNTIME_SETTINGS',
            `settings of containerd: ${joinNames([...settings])}`,
            'before hyperkube up, set spec.registries and spec.components.containerd.config in cluster.yml',
          ),
        ]),
    ...(dropIns.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_DROP_INS',
            `drop-ins of units: ${joinNames([...dropIns])}`,
            'if they set a proxy, set spec.proxy in cluster.yml before hyperkube up',
          ),
        ]),
  ]
}

function listLost(observation: AdoptionObservation): AdoptionItem[] {
  const { from, hosts, api } = observation
  const kubeletSettings = [
    { what: 'flags', names: hosts.flatMap(listLostKubeletFlags).map((flag) => `--${flag}`) },
    { what: 'configuration fields', names: hosts.flatMap(listLostKubeletFields) },
  ]
  const pods = [...new Set(hosts.flatMap(({ otherStaticPods }) => otherStaticPods))]
  const policies = (api?.foreignPolicies ?? []).filter(({ count }) => count > 0)
  const hostNames = nameHosts(observation)
  const etcdNodes = hosts.flatMap((host, index) =>
    listRoles(observation, host).join() === 'etcd' && findNode(observation, host) !== undefined
      ? [hostNames[index] ?? host.hostname]
      : [],
  )
  return [
    ...adoptedPrograms.flatMap((program) => listLostFlags(observation, program)),
    ...kubeletSettings.flatMap(({ what, names }) =>
      names.length === 0
        ? []
        : [
            lost(
              'ADOPT_LOSES_FLAGS',
              `${what} of kubelets: ${[...new Set(names)].join(', ')}`,
              'if nodes need them, set spec.components.kubelet in cluster.yml',
            ),
          ],
    ),
    ...listLostEnvironment(observation),
    ...listLostHostSettings(observation),
    ...(pods.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_STATIC_PODS',
            `static pods: ${joinNames(pods)}`,
            'run them as DaemonSets; for an address of the API use spec.api.virtualIP',
          ),
        ]),
    ...(policies.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_POLICIES',
            `policies that only their own plugin enforces: ${policies.map(({ resource, count }) => `${count} ${resource}`).join(', ')}`,
            'write them as NetworkPolicy objects first',
          ),
        ]),
    ...(etcdNodes.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_ETCD_NODES',
            `nodes of dedicated etcd hosts: ${joinNames(etcdNodes)}`,
            'hosts that run only etcd are no nodes; pods there must be able to run elsewhere',
          ),
        ]),
    lost(
      'ADOPT_LOSES_TOOL',
      from === 'kubeadm'
        ? 'kubeadm join, kubeadm upgrade, and anonymous requests other than /livez, /readyz and /healthz, until adopt rollback'
        : 'rke up, rke etcd and rke cert, until adopt rollback',
      'use node add, upgrade, etcd and certs of hyperkube instead',
    ),
  ]
}
