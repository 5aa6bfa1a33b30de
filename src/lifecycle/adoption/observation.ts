import type { AdoptionSource } from '../../identity/identity.ts'
import type { PodSecurityLevel } from '../../spec/security.ts'

/** Everything that was read of a cluster that another tool manages. It contains no secrets. */
export interface AdoptionObservation {
  readonly from: AdoptionSource
  readonly observed: Date
  /** Name of the cluster for the other tool. */
  readonly name: string
  readonly hosts: readonly AdoptedHost[]
  /** Hosts that could not be read. */
  readonly unreadable: readonly UnreadableHost[]
  /** Windows hosts of the other tool's file. They are not read. */
  readonly windowsHosts: readonly string[]
  /** Keys of RKE1's file that cluster.yml does not keep, and that cannot be observed on hosts. */
  readonly hiddenSettings?: readonly string[]
  /** Fingerprint of the CA in a state file of RKE1. The keys then come from that file, not from hosts. */
  readonly stateCa?: string
  /** Undefined if the API did not respond; `apiFailure` then has the reason. */
  readonly api: ApiObservation | undefined
  readonly apiFailure?: string
  /** Undefined if no etcd member responded; `etcdFailure` then has the reason. */
  readonly etcd: EtcdMembersObservation | undefined
  readonly etcdFailure?: string
}

export interface UnreadableHost {
  readonly address: string
  readonly message: string
  /** Command that fixes the problem, if the error suggests one. */
  readonly hint?: string
}

/** What was read of one host over ssh. */
export interface AdoptedHost {
  /** Address for ssh. */
  readonly address: string
  readonly hostname: string
  /** Node name according to the kubelet's certificate or flags, or the host name. */
  readonly nodeName: string
  readonly machineId: string
  readonly arch: string
  readonly distribution: string
  readonly cgroup: 1 | 2
  readonly addresses: readonly string[]
  readonly components: readonly AdoptedComponent[]
  /** Names of static pods that are no components of Kubernetes. */
  readonly otherStaticPods: readonly string[]
  readonly certificates: readonly AdoptedCertificate[]
  readonly kubelet: AdoptedKubelet
  /** Configurations of the pod network, in the order in which the runtime reads them. */
  readonly cni: readonly CniConfiguration[]
  readonly vxlan: readonly VxlanLink[]
  /** Names of active systemd services, without `.service`. */
  readonly services: readonly string[]
  /** Paths that exist on the host, out of those that the script checks. */
  readonly paths: readonly string[]
  /** Number of the service account keys in the file of kubeadm, which may have several. */
  readonly serviceAccountKeys?: number
  /** Paths that are symbolic links, out of those that the script checks. */
  readonly links?: readonly string[]
  readonly runtime: {
    readonly containerd?: string
    readonly docker?: string
    /** Data directory of containerd. */
    readonly root?: string
    /** Settings of Docker that containerd does not get: proxies, mirrors, registries, default runtime, log driver. */
    readonly dockerSettings?: readonly string[]
    /** Registries and runtimes in the configuration of containerd, such as `registry docker.io`. */
    readonly settings?: readonly string[]
    /** True if runc creates cgroups through systemd. */
    readonly systemdCgroup?: boolean
    /** Directories of CNI plugins. */
    readonly pluginDirectories?: readonly string[]
  }
  /** Drop-in files of the units of kubelet and container runtime, without those of kubeadm. */
  readonly dropIns?: readonly string[]
  /** Programs for volumes that the host does not have. */
  readonly missingPrograms?: readonly string[]
  /** Names of the running containers of Docker that belong to no pod. */
  readonly dockerContainers: readonly string[]
  /** Resources that the API servers of this host encrypt, with the providers; absent without encryption. */
  readonly encryption?: readonly EncryptionRule[]
  /** SHA-256 of the files with keys that API servers of this host use. The hosts compute it. */
  readonly keyDigests?: { readonly serviceAccount?: string; readonly encryption?: string }
  /** Absent if API servers of this host have no such file, or if it is not understood. */
  readonly admission?: AdmissionSettings
}

export interface AdoptedComponent {
  readonly name: string
  readonly runsAs: 'static-pod' | 'container'
  /** Manifest of a static pod. */
  readonly file?: string
  readonly image: string
  /** Flags without dashes. Values of a repeated flag are joined by commas. */
  readonly args: Readonly<Record<string, string>>
  readonly mounts: readonly Mount[]
  /** Names of the environment variables of a static pod. */
  readonly environment?: readonly string[]
  /** Names of the other containers of a static pod. */
  readonly otherContainers?: readonly string[]
  /** Undefined for static pods, whose state is not read. */
  readonly running?: boolean
}

export interface Mount {
  readonly host: string
  readonly path: string
}

export interface AdoptedCertificate {
  readonly path: string
  readonly commonName: string
  readonly isCa: boolean
  readonly notAfter: Date
  readonly fingerprint: string
  /** DNS names and IP addresses. */
  readonly names: readonly string[]
}

export interface AdoptedKubelet {
  readonly args: Readonly<Record<string, string>>
  readonly config: Readonly<Record<string, unknown>>
}

export interface CniConfiguration {
  readonly file: string
  readonly name: string
  readonly types: readonly string[]
}

export interface VxlanLink {
  readonly name: string
  readonly vni: number
  readonly port: number
}

export interface EncryptionRule {
  readonly resources: readonly string[]
  /** Names of providers in their order: the first one encrypts. */
  readonly providers: readonly string[]
}

/** The file of the flag `--admission-control-config-file`. */
export interface AdmissionSettings {
  /** Names of the configured plugins other than PodSecurity. */
  readonly plugins: readonly string[]
  readonly podSecurity?: PodSecurityDefaults
}

/** Pod Security of namespaces without a label, and who is exempt from it. The lists are sorted. */
export interface PodSecurityDefaults {
  readonly enforce: PodSecurityLevel
  /** Version of Kubernetes whose rules are enforced, such as `v1.30` or `latest`. */
  readonly version: string
  readonly audit: PodSecurityLevel
  readonly warn: PodSecurityLevel
  readonly namespaces: readonly string[]
  readonly usernames: readonly string[]
  readonly runtimeClasses: readonly string[]
}

export interface ApiObservation {
  readonly version: string
  readonly nodes: readonly AdoptedNode[]
  /** The ClusterConfiguration of kubeadm; undefined for other tools. */
  readonly kubeadm: KubeadmConfiguration | undefined
  /** Mode of kube-proxy in its ConfigMap; undefined if there is none. */
  readonly kubeProxyMode: string | undefined
  readonly daemonSets: readonly AdoptedWorkload[]
  /** Deployments in the namespaces of addons. */
  readonly deployments: readonly AdoptedWorkload[]
  /** Custom resources of Calico and Cilium that are policies, with the number of their objects. */
  readonly foreignPolicies: readonly { readonly resource: string; readonly count: number }[]
  readonly networkPolicies: number
}

export interface AdoptedNode {
  readonly name: string
  readonly os: string
  readonly kubelet: string
  readonly runtime: string
  readonly machineId: string
  readonly addresses: readonly string[]
  readonly podCidrs: readonly string[]
  readonly ready: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly NodeTaint[]
  readonly providerId: string
  /** Backend that flannel reports for the node. */
  readonly flannelBackend?: string
}

export interface NodeTaint {
  readonly key: string
  readonly value: string
  readonly effect: string
}

export interface KubeadmConfiguration {
  readonly clusterName: string
  readonly certificatesDir: string
  readonly controlPlaneEndpoint: string
  readonly etcd: { readonly external: boolean; readonly dataDir: string }
}

export interface AdoptedWorkload {
  readonly namespace: string
  readonly name: string
  readonly images: readonly string[]
}

export interface EtcdMembersObservation {
  /** True if a quorum confirmed the list of members. */
  readonly confirmed: boolean
  readonly members: readonly AdoptedMember[]
}

export interface AdoptedMember {
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly learner: boolean
  readonly healthy: boolean
  readonly version?: string
}

/** Finds a component of a host by its name. */
export function findComponent(
  { components }: Pick<AdoptedHost, 'components'>,
  name: string,
): AdoptedComponent | undefined {
  return components.find((component) => component.name === name)
}

/**
 * Returns the mode of kube-proxy: that of its ConfigMap, or of the flags of its container. Undefined if the
 * cluster has no kube-proxy.
 */
export function findKubeProxyMode({
  api,
  hosts,
}: Pick<AdoptionObservation, 'api' | 'hosts'>): string | undefined {
  const [container] = hosts.flatMap((host) => findComponent(host, 'kube-proxy') ?? [])
  return (
    api?.kubeProxyMode ?? (container === undefined ? undefined : (container.args['proxy-mode'] ?? 'iptables'))
  )
}

/** Lists the hosts that run API servers. */
export function listAdoptedControlPlanes({
  hosts,
}: Pick<AdoptionObservation, 'hosts'>): readonly AdoptedHost[] {
  return hosts.filter((host) => findComponent(host, 'kube-apiserver') !== undefined)
}

/** Finds the node of a host. */
export function findNode(
  { api }: Pick<AdoptionObservation, 'api'>,
  { nodeName }: Pick<AdoptedHost, 'nodeName'>,
): AdoptedNode | undefined {
  return api?.nodes.find(({ name }) => name === nodeName)
}
