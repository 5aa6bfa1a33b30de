import { formatNames, quoteShellIfNeeded } from '../../../kit/text.ts'
import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { type AdoptedHost, findComponent, findNode } from '../observation.ts'
import { componentNames } from '../host-script.ts'
import { buildManifestPath } from '../read-components.ts'
import { type AdoptionCheck, toolNames } from './check.ts'

/** Finds hosts that could not be read. */
export const checkReadable: AdoptionCheck = ({ unreadable }) =>
  unreadable.map(({ address, message, hint }) =>
    prevents(
      'ADOPT_HOST_NOT_READ',
      message,
      hint ?? `check that ssh works without a password: ssh ${quoteShellIfNeeded(address)} true`,
      address,
    ),
  )

/** Finds nodes of the cluster that no read host runs, and hosts that are no node. */
export const checkCompleteness: AdoptionCheck = (observation) => {
  const { api, hosts, unreadable } = observation
  if (api === undefined || unreadable.length > 0) return []
  const nodes = api.nodes.filter(
    ({ os, name }) => os !== 'windows' && !hosts.some(({ nodeName }) => nodeName === name),
  )
  const missing = nodes.map(({ name, addresses: [address = 'ADDRESS'] }) =>
    prevents(
      'ADOPT_HOST_MISSING',
      `the node ${name} belongs to the cluster, but its host was not read`,
      observation.from === 'kubeadm'
        ? `run the same command with --host ${address} too, or remove the node: kubectl delete node ${name}`
        : `add the host to the cluster.yml of RKE1, or remove the node: kubectl delete node ${name}`,
    ),
  )
  const foreign = hosts
    .filter((host) => findNode(observation, host) === undefined)
    .map(({ address, nodeName }) =>
      prevents(
        'ADOPT_HOST_FOREIGN',
        `the host calls itself ${nodeName}, but the cluster has no such node`,
        'leave the host out, or check the name of its kubelet: kubectl get nodes',
        address,
      ),
    )
  return [...missing, ...foreign]
}

/** Finds hosts whose node name belongs to another machine. */
export const checkNames: AdoptionCheck = (observation) => {
  const { hosts, from } = observation
  const duplicates = hosts.filter(({ nodeName }, index) =>
    hosts.some((other, position) => position !== index && other.nodeName === nodeName),
  )
  return [
    ...duplicates.map(({ address, nodeName }) =>
      prevents(
        'ADOPT_NAMES_SWAPPED',
        `another host also calls itself ${nodeName}`,
        'give each host its own node name, and check that each address is given once',
        address,
      ),
    ),
    ...hosts.flatMap((host) => {
      const node = findNode(observation, host)
      if (node === undefined || duplicates.includes(host)) return []
      // The kubelet of RKE1 reports the machine id of its image, which is the same on all hosts.
      const isSameMachine = from === 'rke1' || ['', host.machineId].includes(node.machineId)
      const hasAddress = node.addresses.some((address) => host.addresses.includes(address))
      if (isSameMachine && hasAddress) return []
      if (!hasAddress && node.addresses.includes(host.address)) return [behindNat(host)]
      const why = hasAddress ? 'with another machine id' : `with the address ${formatNames(node.addresses)}`
      return [
        prevents(
          'ADOPT_NAMES_SWAPPED',
          `the kubelet of this host calls itself ${host.nodeName}, but that node is another machine, ${why}`,
          `compare: ssh ${quoteShellIfNeeded(host.address)} cat /etc/machine-id; kubectl get nodes -o wide`,
          host.address,
        ),
      ]
    }),
  ]
}

function behindNat({ address, nodeName }: AdoptedHost): AdoptionItem {
  return prevents(
    'ADOPT_NODE_ADDRESS',
    `the node ${nodeName} has the address ${address}, which no network interface of the host has`,
    'give the node the address of an interface first: internal_address in the cluster.yml of RKE1, or --node-ip of the kubelet',
    address,
  )
}

/** Paths of other tools, with their names. */
const otherTools: readonly (readonly [path: string, tool: string])[] = [
  ['/opt/hyperkube', 'hyperkube'],
  ['/var/lib/hyperkube', 'hyperkube'],
  ['/etc/rancher/k3s', 'k3s'],
  ['/var/lib/rancher/k3s', 'k3s'],
  ['/etc/rancher/rke2', 'RKE2'],
  ['/var/lib/rancher/rke2', 'RKE2'],
]

/** Services with the names of components that neither kubeadm nor RKE1 runs as services. */
const foreignServices = new Set([
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-proxy',
  'k3s',
  'k3s-agent',
  'rke2-server',
  'rke2-agent',
  'hyperkube-agent',
])

/** Finds hosts that also have parts of another cluster or tool. */
export const checkDirt: AdoptionCheck = ({ hosts, from }) =>
  hosts.flatMap((host) => {
    const found = [
      ...new Set(
        otherTools.filter(([path]) => host.paths.includes(path)).map(([, tool]) => `files of ${tool}`),
      ),
      ...host.services.filter((name) => foreignServices.has(name)).map((name) => `the service ${name}`),
      ...listOtherParts(host, from === 'kubeadm' ? 'container' : 'static-pod'),
      ...(from === 'rke1' ? listForeignToRke1(host) : listOtherManifests(host)),
    ]
    if (found.length === 0) return []
    const message = `the host also has ${found.join(', ')}: it is not clear what ${toolNames[from]} manages`
    const next = 'remove what does not belong to this cluster, then run the same command again'
    return [prevents('ADOPT_HOST_DIRTY', message, next, host.address)]
  })

/** Containers of RKE1 besides its components. It takes snapshots of etcd with the second one by default. */
const rke1Containers: readonly string[] = ['nginx-proxy', 'etcd-rolling-snapshots']

/**
 * Lists what a host of RKE1 must not have: a kubelet that systemd runs, containers that would end with Docker, and
 * components that have ended.
 */
function listForeignToRke1({ components, dockerContainers, services }: AdoptedHost): string[] {
  const known = new Set([...componentNames, ...rke1Containers])
  return [
    ...(services.includes('kubelet') ? ['the service kubelet'] : []),
    ...dockerContainers.filter((name) => !known.has(name)).map((name) => `the container ${name} in Docker`),
    ...components
      .filter(({ running }) => running === false)
      .map(({ name }) => `the stopped container ${name}`),
  ]
}

/**
 * Lists manifests of components that have other names than those of kubeadm, such as backups. The kubelet would
 * start such a pod as soon as the manifest of kubeadm is gone.
 */
function listOtherManifests({ components }: AdoptedHost): string[] {
  return components.flatMap(({ name, file }) =>
    file === undefined || file === buildManifestPath(name) ? [] : [`a manifest of ${name} in ${file}`],
  )
}

function listOtherParts({ components }: AdoptedHost, runsAs: 'static-pod' | 'container'): string[] {
  const kind = runsAs === 'container' ? 'container' : 'static pod'
  return components.filter((one) => one.runsAs === runsAs).map(({ name }) => `a ${kind} ${name}`)
}

/** Finds hosts that do not look like hosts of the tool, and clusters without a control plane. */
export const checkTool: AdoptionCheck = ({ hosts, from, unreadable }): readonly AdoptionItem[] => {
  if (hosts.some((host) => findComponent(host, 'kube-apiserver') !== undefined) || unreadable.length > 0)
    return []
  const what = from === 'kubeadm' ? 'static pod kube-apiserver' : 'container kube-apiserver'
  return [
    prevents(
      'ADOPT_NO_CONTROL_PLANE',
      `no host has a ${what}: this is no cluster of ${toolNames[from]}, or its control planes are not listed`,
      from === 'kubeadm'
        ? 'name all control planes with --host'
        : 'check the nodes of the cluster.yml of RKE1',
    ),
  ]
}

export const checkWindows: AdoptionCheck = ({ api, windowsHosts }) => {
  const nodes = (api?.nodes ?? []).filter(({ os }) => os === 'windows').map(({ name }) => name)
  const names = nodes.length > 0 ? nodes : windowsHosts
  if (names.length === 0) return []
  return [
    prevents(
      'ADOPT_WINDOWS',
      `Windows nodes cannot be adopted: ${formatNames(names)}`,
      'drain and remove them first; add them again after the adoption: kubectl delete node NODE',
    ),
  ]
}
