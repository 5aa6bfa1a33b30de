import { toMinor } from '../../../catalog/version.ts'
import { joinNames } from '../../../kit/text.ts'
import { caCommonNames } from '../../../pki/ca.ts'
import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { caPaths } from '../existing-keys.ts'
import { type AdoptedHost, findNode, listAdoptedControlPlanes } from '../observation.ts'
import { type AdoptionCheck, toolNames } from './check.ts'

const containerdSocket = 'unix:///run/containerd/containerd.sock'

/** Finds hosts whose containers hyperkube's containerd could not take over or end. */
export const checkRuntime: AdoptionCheck = (observation) => {
  if (observation.from !== 'kubeadm') return observation.hosts.flatMap(checkDocker)
  return observation.hosts.flatMap((host) => {
    const runtime = findNode(observation, host)?.runtime
    const { args, config } = host.kubelet
    // A flag has priority over the file, in which kubeadm writes an empty text.
    const endpoint = args['container-runtime-endpoint'] ?? config['containerRuntimeEndpoint']
    const isOther = runtime !== undefined && !runtime.startsWith('containerd://')
    const socket = typeof endpoint === 'string' && endpoint !== '' ? endpoint : containerdSocket
    if (!isOther && normalizeSocket(socket) === containerdSocket) return checkContainerdUnit(host)
    return [
      prevents(
        'ADOPT_RUNTIME',
        `the container runtime is ${isOther ? runtime : `at ${socket}`}; only containerd at ${containerdSocket} can be adopted`,
        'change the container runtime of the host first, as upstream documents it: drain the node, install containerd, run kubeadm again',
        host.address,
      ),
    ]
  })
}

/** By default kubeadm writes /var/run, which is a link to /run. Old flags have no scheme. */
function normalizeSocket(endpoint: string): string {
  return endpoint.replace(/^(?:unix:\/\/)?(?:\/var)?\/run\//, 'unix:///run/')
}

/** The unit is replaced and restored by its name. */
function checkContainerdUnit({ services, address }: AdoptedHost): AdoptionItem[] {
  if (services.includes('containerd')) return []
  return [
    prevents(
      'ADOPT_RUNTIME',
      'containerd is not the service containerd.service, so it could neither be stopped nor started',
      'install containerd as this service first: drain the node, then restart the host with it',
      address,
    ),
  ]
}

/** Docker and its containerd must be services with these names, because they are stopped and disabled by name. */
function checkDocker({ services, address }: AdoptedHost): AdoptionItem[] {
  const missing = [
    ...(services.includes('docker') ? [] : ['Docker is not the service docker.service']),
    ...(services.includes('containerd') ? [] : ['its containerd is not the service containerd.service']),
  ]
  if (missing.length === 0) return []
  return [
    prevents(
      'ADOPT_RUNTIME',
      `${joinNames(missing)}, so it could neither be stopped nor started`,
      'install the Docker of the distribution or of docker.com, then run rke up again',
      address,
    ),
  ]
}

/**
 * Finds hosts whose kubelet uses another cgroup driver than hyperkube. Running pods would be in cgroups that the
 * new kubelet does not know.
 */
export const checkCgroupDriver: AdoptionCheck = ({ hosts, from }) => {
  if (from !== 'kubeadm') return []
  return hosts.flatMap(({ kubelet, cgroup, address, runtime }) => {
    const needed = cgroup === 2 ? 'systemd' : 'cgroupfs'
    const ofRuntime = readRuntimeDriver(runtime)
    const configured = ofRuntime ?? kubelet.args['cgroup-driver'] ?? kubelet.config['cgroupDriver']
    const driver = typeof configured === 'string' ? configured : needed
    if (driver === needed) return []
    return [
      prevents(
        'ADOPT_CGROUP_DRIVER',
        `the kubelet uses the cgroup driver ${driver}, but hyperkube uses ${needed} on hosts with cgroup v${cgroup}`,
        ofRuntime === undefined
          ? `change it with kubeadm first: cgroupDriver: ${needed} in the kubelet-config ConfigMap, then drain and restart the node`
          : `the kubelet takes it from containerd: set SystemdCgroup = ${needed === 'systemd'} in /etc/containerd/config.toml, then drain and restart the node`,
        address,
      ),
    ]
  })
}

/** Since Kubernetes 1.31, kubelets take the cgroup driver from containerd 2.0 or later, whatever their file has. */
function readRuntimeDriver({ containerd = '', systemdCgroup }: AdoptedHost['runtime']): string | undefined {
  if (systemdCgroup === undefined || Number.parseInt(containerd, 10) < 2) return undefined
  return systemdCgroup ? 'systemd' : 'cgroupfs'
}

/** Finds CAs with names by which agents could not recognize them. */
export const checkCaNames: AdoptionCheck = (observation) => {
  const { kubernetes, etcd, frontProxy } = caPaths[observation.from]
  const expected: readonly (readonly [path: string, names: readonly string[]])[] = [
    [kubernetes.certificate, caCommonNames.kubernetes],
    [etcd.certificate, caCommonNames.etcd],
    [frontProxy.certificate, caCommonNames['front-proxy']],
  ]
  const [server] = listAdoptedControlPlanes(observation)
  return expected.flatMap(([path, names]) => {
    const found = server?.certificates.find((one) => one.path === path)
    if (found === undefined || names.includes(found.commonName)) return []
    return [
      prevents(
        'ADOPT_CA_NAME',
        `the CA ${path} has the name ${found.commonName}; only a CA with the name that ${toolNames[observation.from]} gives it can be adopted`,
        'keep this cluster with its tool; hyperkube cannot recognize a CA of your own yet',
        server?.address,
      ),
    ]
  })
}

/**
 * Builds the check that etcd keeps its minor version. A newer minor changes the stored data, and the previous
 * etcd could not read it any more. `versions` are those of etcd, by minor of Kubernetes.
 */
export function buildEtcdVersionCheck(versions: ReadonlyMap<string, string>): AdoptionCheck {
  return ({ from, api, etcd }) => {
    const next = versions.get(toMinor(api?.version ?? ''))
    if (next === undefined) return []
    const others = (etcd?.members ?? []).filter(
      ({ version }) => version !== undefined && toMinor(version) !== toMinor(next),
    )
    if (others.length === 0) return []
    const found = others.map(({ name, version }) => `${name} has ${version}`)
    return [
      prevents(
        'ADOPT_ETCD_VERSION',
        `etcd would change its minor version to ${next}, and could not return: ${joinNames(found)}`,
        etcdChanges[from],
      ),
    ]
  }
}

const etcdChanges = {
  kubeadm:
    'change etcd with kubeadm first: set etcd.local.imageTag in its configuration, then kubeadm upgrade apply',
  rke1: 'change etcd with RKE1 first: set system_images.etcd in its cluster.yml, then rke up',
} as const
