import type { AdoptionSource } from '../../../identity/identity.ts'
import { type AdoptionItem, prevents } from '../adoption-report.ts'
import { caPaths } from '../existing-keys.ts'
import { type AdoptedHost, findComponent } from '../observation.ts'
import { toHostPath } from '../read-components.ts'
import type { AdoptionCheck } from './check.ts'

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
