import { type Args, type JsonObject, mergeArgs, mergeConfig, tlsCipherSuites } from './args.ts'
import { listNodeAddresses, type PlanContext } from './context.ts'
import { canNodeSetLabel, planNode } from './node.ts'
import { computeReservedResources } from './reserved-resources.ts'

/** Paths of the kubelet's files on the host. */
export interface KubeletFiles {
  readonly config: string
  readonly kubeconfig: string
  readonly caFile: string
  readonly certificate: string
  readonly privateKey: string
}

/**
 * Merges the kubelet flags. Flags of the platform override common flags, and flags of the user override both.
 */
export function buildKubeletArgs(
  context: PlanContext,
  { config, kubeconfig }: KubeletFiles,
  platform: Args,
): Args {
  const { cluster, host } = context
  const node = planNode(context)
  const labels = Object.entries(node?.labels ?? {}).filter(([key]) => canNodeSetLabel(key))
  return mergeArgs(
    {
      config,
      kubeconfig,
      'hostname-override': node?.name ?? host.name,
      'node-ip': listNodeAddresses(context).join(','),
      ...(labels.length === 0
        ? {}
        : { 'node-labels': labels.map(([key, value]) => `${key}=${value}`).join(',') }),
      ...(cluster.spec.cloudProvider === 'external' ? { 'cloud-provider': 'external' } : {}),
      ...platform,
    },
    cluster.spec.components.kubelet.args,
    host.components?.kubelet?.args,
  )
}

/**
 * Merges the kubelet configuration. Platform settings override common settings, and user settings override
 * both.
 */
export function buildKubeletConfiguration(
  context: PlanContext,
  files: KubeletFiles,
  platform: JsonObject,
): JsonObject {
  const { cluster, host, topology } = context
  const { components, network } = cluster.spec
  const taints = planNode(context)?.taints ?? []
  const { systemReserved, kubeReserved } = computeReservedResources(context)
  const common: JsonObject = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: files.caFile },
    },
    authorization: { mode: 'Webhook' },
    readOnlyPort: 0,
    tlsCertFile: files.certificate,
    tlsPrivateKeyFile: files.privateKey,
    tlsMinVersion: 'VersionTLS12',
    tlsCipherSuites: [...tlsCipherSuites],
    // The agent renews the certificate. A kubelet that rotates certificates itself would ignore the agent's
    // certificate and keep its own, even after the CA is replaced.
    rotateCertificates: false,
    clusterDomain: network.domain,
    clusterDNS: [topology.dnsServiceAddress],
    maxPods: host.components?.kubelet?.maxPods ?? components.kubelet.maxPods,
    serializeImagePulls: false,
    maxParallelImagePulls: 4,
    shutdownGracePeriod: '60s',
    shutdownGracePeriodCriticalPods: '20s',
    systemReserved: { ...systemReserved },
    kubeReserved: { ...kubeReserved },
    ...(taints.length === 0 ? {} : { registerWithTaints: taints.map((taint) => ({ ...taint })) }),
  }
  return mergeConfig(common, platform, components.kubelet.config, host.components?.kubelet?.config)
}
