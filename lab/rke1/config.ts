import { stringify } from 'yaml'
import type { ClusterHosts } from '../cluster/shape.ts'
import type { Host } from '../hosts/host.ts'
import { canalImageNames, rke1ImageNames } from '../mirror/rke1-images.ts'

/**
 * Version whose defaults RKE1 uses. It knows only some versions, so the image of Kubernetes is set separately.
 */
const knownVersion = 'v1.32.6-rancher1-1'

type RkeHost = Pick<Host, 'name' | 'address' | 'ssh'>

export interface RkeConfigOptions {
  /** Whether API servers encrypt Secrets in etcd, with a key of RKE1. */
  readonly encrypted?: boolean
  readonly network?: Rke1Network
}

/** Pod networks of RKE1. canal is flannel with Calico's CNI plugin and felix, which enforces NetworkPolicy. */
export const rke1Networks = ['flannel', 'canal'] as const
export type Rke1Network = (typeof rke1Networks)[number]

/** Renders the cluster.yml of RKE1. */
export function renderRkeConfig(
  { controlPlanes, workers }: Readonly<Record<keyof ClusterHosts, readonly RkeHost[]>>,
  { encrypted = false, network = 'flannel' }: RkeConfigOptions = {},
): string {
  const { kubernetes, tools, etcd, pause, coredns, flannel, flannelCni } = rke1ImageNames
  return stringify({
    cluster_name: 'lab',
    kubernetes_version: knownVersion,
    nodes: [
      ...controlPlanes.map((host) => describeNode(host, 'controlplane', 'etcd')),
      ...workers.map((host) => describeNode(host, 'worker')),
    ],
    // Debian's version of Docker is in none of RKE1's lists.
    ignore_docker_version: true,
    network: { plugin: network },
    ingress: { provider: 'none' },
    monitoring: { provider: 'none' },
    services: {
      etcd: { snapshot: false },
      ...(encrypted ? { 'kube-api': { secrets_encryption_config: { enabled: true } } } : {}),
      kubelet: {
        // Lab hosts share the disk of the machine, which may be nearly full.
        extra_args: {
          'eviction-hard': 'memory.available<100Mi,nodefs.available<1%,imagefs.available<1%',
          'image-gc-high-threshold': '100',
        },
      },
      // kube-proxy cannot set the limit of conntrack inside a container and would exit.
      kubeproxy: { extra_args: { 'conntrack-max-per-core': '0' } },
    },
    system_images: {
      kubernetes,
      etcd,
      alpine: tools,
      nginx_proxy: tools,
      cert_downloader: tools,
      kubernetes_services_sidecar: tools,
      pod_infra_container: pause,
      coredns,
      ...(network === 'canal'
        ? {
            canal_node: canalImageNames.node,
            canal_cni: canalImageNames.cni,
            canal_controllers: canalImageNames.controllers,
            canal_flannel: flannel,
          }
        : { flannel, flannel_cni: flannelCni }),
    },
  })
}

function describeNode({ name, address, ssh }: RkeHost, ...role: readonly string[]): object {
  return { address, hostname_override: name, user: 'root', ssh_key_path: ssh.keyFile, role }
}

export const runcWrapperPath = '/usr/local/sbin/lab-runc'

/**
 * Starts runc without CAP_SYS_RESOURCE and without lower OOM scores, which need it. Lab hosts do not have this
 * capability, and Docker has no setting for such hosts.
 */
export const runcWrapper = `#!/bin/sh
set -eu
previous=
for argument in "$@"; do
  file=
  case $previous in
    --bundle) file=$argument/config.json ;;
    --process) file=$argument ;;
  esac
  [ -z "$file" ] || sed -i -e 's/"CAP_SYS_RESOURCE",//g' -e 's/,"CAP_SYS_RESOURCE"//g' \\
    -e 's/"oomScoreAdj":-[0-9]*/"oomScoreAdj":0/' "$file"
  previous=$argument
done
exec runc "$@"
`

/** Renders the configuration of Docker. It pulls all images of docker.io from the mirror of the lab. */
export function renderDockerConfig(mirror: string): string {
  const config = {
    'registry-mirrors': [mirror],
    'insecure-registries': [new URL(mirror).host],
    // Lab hosts have cgroup version 1.
    'exec-opts': ['native.cgroupdriver=cgroupfs'],
    'default-runtime': 'lab',
    runtimes: { lab: { path: runcWrapperPath } },
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
