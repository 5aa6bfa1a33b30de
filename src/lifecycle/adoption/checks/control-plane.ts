import { toMinor } from '../../../catalog/version.ts'
import { oldestKubernetes } from '../../../spec/scalars.ts'
import type { AdoptionSource } from '../../../identity/identity.ts'
import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { readSharedEndpoint } from '../cluster-settings.ts'
import { caPaths } from '../existing-keys.ts'
import { listWorkerVersions } from '../host-settings.ts'
import { type AdoptedHost, findComponent, listAdoptedControlPlanes } from '../observation.ts'
import { toHostPath } from '../read-components.ts'
import type { AdoptionCheck } from './check.ts'

export const checkApi: AdoptionCheck = ({ api, apiFailure = 'it does not respond' }) =>
  api === undefined
    ? [
        prevents(
          'ADOPT_API_NOT_READ',
          `the API could not be read: ${apiFailure}`,
          'repair the API first; on a control plane: crictl ps, or docker ps',
        ),
      ]
    : []

/** Finds versions that the catalog does not know. `minors` are those of the catalog. */
export function buildVersionCheck(minors: readonly string[]): AdoptionCheck {
  return (observation) => {
    const { api } = observation
    if (api === undefined) return []
    const versions = new Map([
      [api.version, 'the API server'],
      ...api.nodes.map(({ kubelet, name }) => [kubelet, `the kubelet of ${name}`] as const),
    ])
    const workers = listWorkerVersions(observation)
    const mixed =
      workers.length < 2
        ? []
        : [
            prevents(
              'ADOPT_VERSION',
              `workers have several versions of Kubernetes: ${workers.join(', ')}`,
              'finish their upgrade with the tool that manages the cluster',
            ),
          ]
    const unknown = [...versions].flatMap(([version, who]): AdoptionItem[] => {
      const minor = toMinor(version)
      if (minors.includes(minor)) return []
      const isOld = compareMinors(minor, oldestKubernetes) < 0
      const message = `${who} has Kubernetes ${version}; hyperkube knows ${minors.at(-1)} to ${minors[0]}`
      const next = isOld
        ? `upgrade the cluster with its own tool to ${minors.at(-1)} or later, one minor at a time`
        : 'use a newer release of hyperkube, or a newer catalog: hyperkube catalog list'
      return [prevents('ADOPT_VERSION', message, next)]
    })
    return [...unknown, ...mixed]
  }
}

function compareMinors(a: string, b: string): number {
  const [left = 0, right = 0] = [a, b].map((minor) => Number(minor.split('.')[1]))
  return left - right
}

/** Names of static pods that serve an address of the API: a virtual IP or a load balancer. */
const endpointPod = /kube-vip|keepalived|haproxy|nginx|envoy/

/**
 * Finds static pods on control planes through which the API is reached. They end when the kubelet is replaced.
 * kube-proxy of kubeadm and the kubelets of hosts that have not moved use this address.
 */
export const checkEndpointPods: AdoptionCheck = (observation) => {
  const endpoint = readSharedEndpoint(observation)
  if (endpoint === undefined) return []
  return listAdoptedControlPlanes(observation).flatMap(({ otherStaticPods, address }) =>
    otherStaticPods
      .filter((name) => endpointPod.test(name))
      .map((name) =>
        prevents(
          'ADOPT_ENDPOINT_POD',
          `the static pod ${name} would end, and kube-proxy may reach the API through it, at ${endpoint}`,
          'run it as a service of the host or as a DaemonSet first, or use a load balancer, so that the address stays',
          address,
        ),
      ),
  )
}

/** Components whose cloud provider counts. */
const cloudComponents = ['kube-apiserver', 'kube-controller-manager', 'kubelet']

export const checkCloudProvider: AdoptionCheck = ({ hosts, api }) => {
  const providers = hosts.flatMap((host) => [
    ...cloudComponents.map((name) => findComponent(host, name)?.args['cloud-provider']),
    host.kubelet.args['cloud-provider'],
  ])
  const names = [...new Set(providers)].filter((name) => name !== undefined && name !== '' && name !== 'none')
  const ids = (api?.nodes ?? []).filter(({ providerId }) => providerId !== '').map(({ name }) => name)
  if (names.length === 0 && ids.length === 0) return []
  const message =
    names.length > 0
      ? `the cluster has the cloud provider ${names.join(', ')}`
      : `nodes have ids of a cloud provider: ${ids.slice(0, 3).join(', ')}`
  return [
    prevents(
      'ADOPT_CLOUD_PROVIDER',
      `${message}; adoption with a cloud provider is not supported`,
      'create a new cluster with spec.cloudProvider: external, and move workloads there',
    ),
  ]
}

/** Paths that an adopted host must have. */
const standardPaths = {
  rootDir: '/var/lib/kubelet',
  kubeletConfig: '/var/lib/kubelet/config.yaml',
  etcd: '/var/lib/etcd',
  writeAheadLog: '/var/lib/etcd/member/wal',
  manifests: '/etc/kubernetes/manifests',
  containerd: '/var/lib/containerd',
  plugins: '/opt/cni/bin',
}

/** Finds directories and files that the tool's operator has changed. */
export const checkPaths: AdoptionCheck = ({ hosts, from, api }) => {
  const certificates = from === 'kubeadm' ? '/etc/kubernetes/pki' : '/etc/kubernetes/ssl'
  const found = hosts.flatMap((host) =>
    listUsedPaths(host, from)
      .filter(({ path, standard }) => path.replace(/\/+$/, '') !== standard)
      .map(({ what, path, standard }) =>
        buildPathItem(`${what} is ${path} instead of ${standard}`, host.address),
      ),
  )
  const configured = api?.kubeadm?.certificatesDir
  return [
    ...found,
    ...hosts.flatMap(checkLinks),
    ...hosts.flatMap(checkEtcdPrefix),
    ...(configured === undefined || configured === certificates
      ? []
      : [buildPathItem(`kubeadm keeps certificates in ${configured} instead of ${certificates}`)]),
  ]
}

/** Agents refuse a directory that is a link, so `up` would fail and return the component. */
function checkLinks({ links = [], address }: AdoptedHost): AdoptionItem[] {
  return links.map((path) =>
    prevents(
      'ADOPT_CUSTOM_PATH',
      `${path} is a symbolic link instead of a directory`,
      'mount the disk or directory at this path instead, for example by a bind mount in /etc/fstab',
      address,
    ),
  )
}

/** With another prefix, the new API server would find no objects and begin an empty cluster. */
function checkEtcdPrefix(host: AdoptedHost): AdoptionItem[] {
  const prefix = findComponent(host, 'kube-apiserver')?.args['etcd-prefix'] ?? '/registry'
  if (/^\/*registry\/*$/.test(prefix)) return []
  return [
    prevents(
      'ADOPT_CUSTOM_PATH',
      `the API server keeps objects in etcd below ${prefix} instead of /registry`,
      'keep this cluster with its tool, or create a new cluster and move workloads there',
      host.address,
    ),
  ]
}

interface UsedPath {
  readonly what: string
  readonly path: string
  readonly standard: string
}

function listUsedPaths(host: AdoptedHost, from: AdoptionSource): UsedPath[] {
  const { args, config } = host.kubelet
  const { manifests, rootDir, kubeletConfig } = standardPaths
  const staticPodPath = config['staticPodPath']
  const { root, pluginDirectories = [] } = host.runtime
  const { kubernetes, etcd, frontProxy } = caPaths[from]
  return [
    { what: 'the directory of the kubelet', path: args['root-dir'] ?? rootDir, standard: rootDir },
    {
      what: 'the configuration of the kubelet',
      path: args['config'] ?? kubeletConfig,
      standard: kubeletConfig,
    },
    ...(typeof staticPodPath === 'string'
      ? [{ what: 'the directory of static pods', path: staticPodPath, standard: manifests }]
      : []),
    // Docker's containerd is replaced with its data, but that of kubeadm goes on with the data of its pods.
    ...(root === undefined || from === 'rke1'
      ? []
      : [{ what: 'the data directory of containerd', path: root, standard: standardPaths.containerd }]),
    // New pods need the plugin of the pod network, and hyperkube's containerd searches only the standard directory.
    ...(from === 'rke1' || pluginDirectories.includes(standardPaths.plugins)
      ? []
      : pluginDirectories.map((path) => ({
          what: 'the directory of CNI plugins',
          path,
          standard: standardPaths.plugins,
        }))),
    ...listFlagPaths(host, 'etcd', [
      ['data-dir', 'the data directory of etcd', standardPaths.etcd],
      ['wal-dir', 'the write-ahead log of etcd', standardPaths.writeAheadLog],
    ]),
    ...listFlagPaths(host, 'kube-apiserver', [
      ['client-ca-file', 'the CA of clients', kubernetes.certificate],
      ['etcd-cafile', 'the CA of etcd', etcd.certificate],
      ['requestheader-client-ca-file', 'the CA of the front proxy', frontProxy.certificate],
    ]),
  ]
}

/** Lists the paths on the host that flags of a component name. Flags that are not set have their defaults. */
function listFlagPaths(
  host: AdoptedHost,
  name: string,
  flags: readonly (readonly [flag: string, what: string, standard: string])[],
): UsedPath[] {
  const component = findComponent(host, name)
  if (component === undefined) return []
  return flags.flatMap(([flag, what, standard]) => {
    const path = component.args[flag] ?? ''
    return path === '' ? [] : [{ what, path: toHostPath(component, path), standard }]
  })
}

function buildPathItem(message: string, host?: string): AdoptionItem {
  return prevents(
    'ADOPT_CUSTOM_PATH',
    message,
    'move it to the standard directory with the tool that manages the cluster, then run the same command again',
    host,
  )
}

/** Finds nodes that do not work. An adoption must start from a healthy cluster. */
export const checkNodesReady: AdoptionCheck = ({ api }) =>
  (api?.nodes ?? [])
    .filter(({ ready, os }) => !ready && os !== 'windows')
    .map(({ name }) =>
      prevents(
        'ADOPT_NODE_NOT_READY',
        `the node ${name} is not Ready`,
        `find the cause: kubectl describe node ${name}`,
      ),
    )

/** Finds API servers whose tokens cannot be kept. */
export const checkServiceAccounts: AdoptionCheck = (observation) => {
  const servers = listAdoptedControlPlanes(observation).flatMap((host) => {
    const server = findComponent(host, 'kube-apiserver')
    return server === undefined ? [] : [{ host, args: server.args }]
  })
  const issuers = new Set(servers.map(({ args }) => args['service-account-issuer'] ?? ''))
  const keyFiles = servers.find(
    ({ host, args }) =>
      (args['service-account-key-file'] ?? '').includes(',') || (host.serviceAccountKeys ?? 0) > 1,
  )
  const next = 'wait until no token of the previous key or issuer is in use, then remove it from the flags'
  return [
    ...(issuers.size > 1 || [...issuers].some((issuer) => issuer.includes(','))
      ? [prevents('ADOPT_SERVICE_ACCOUNTS', 'API servers have several service account issuers', next)]
      : []),
    ...(keyFiles === undefined
      ? []
      : [
          prevents(
            'ADOPT_SERVICE_ACCOUNTS',
            'the API server trusts several service account keys, and only the signing key can be kept',
            next,
            keyFiles.host.address,
          ),
        ]),
  ]
}

/** Providers whose keys are in the configuration file itself. */
const keptProviders = new Set(['aescbc', 'aesgcm', 'secretbox', 'identity'])

export const checkEncryption: AdoptionCheck = ({ hosts }) =>
  hosts.flatMap(({ address, encryption = [] }) => {
    const others = new Set(
      encryption.flatMap(({ providers }) => providers).filter((name) => !keptProviders.has(name)),
    )
    if (others.size === 0) return []
    return [
      prevents(
        'ADOPT_ENCRYPTION',
        `data in etcd is encrypted by ${[...others].join(', ')}, which hyperkube cannot keep`,
        'encrypt with secretbox or aescbc instead, and rewrite all Secrets: kubectl get secrets -A -o json | kubectl replace -f -',
        address,
      ),
    ]
  })
