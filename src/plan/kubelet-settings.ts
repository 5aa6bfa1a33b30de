import { mayLabelItself } from '../spec/labels.ts'
import { type Args, mergeArgs } from './args.ts'
import { type JsonObject, mergeConfig } from './merge-config.ts'
import { nodeOf } from './node.ts'
import { reserved } from './reserved-resources.ts'
import type { Scene } from './context.ts'
import { ciphers } from './tls-cipher-suites.ts'

/** Paths on the host. */
export interface KubeletFiles {
  readonly config: string
  readonly kubeconfig: string
  readonly authority: string
  readonly certificate: string
  readonly privateKey: string
}

/** The kubelet's flags: what is the same on every system, what is a system's own, and what a person wants. */
export function kubeletArgs(scene: Scene, { config, kubeconfig }: KubeletFiles, own: Args): Args {
  const { cluster, host, address } = scene
  const node = nodeOf(scene)
  const labels = Object.entries(node?.labels ?? {}).filter(([key]) => mayLabelItself(key))
  return mergeArgs(
    {
      config,
      kubeconfig,
      'hostname-override': node?.name ?? host.name,
      'node-ip': address,
      ...(labels.length === 0
        ? {}
        : { 'node-labels': labels.map(([key, value]) => `${key}=${value}`).join(',') }),
      ...(cluster.spec.cloudProvider === 'external' ? { 'cloud-provider': 'external' } : {}),
      ...own,
    },
    cluster.spec.components.kubelet.args,
    host.components?.kubelet?.args,
  )
}

/** The same for its configuration. */
export function kubeletConfiguration(scene: Scene, files: KubeletFiles, own: JsonObject): JsonObject {
  const { cluster, host, topology } = scene
  const { components, network } = cluster.spec
  const taints = nodeOf(scene)?.taints ?? []
  const { systemReserved, kubeReserved } = reserved(scene)
  const common: JsonObject = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: files.authority },
    },
    authorization: { mode: 'Webhook' },
    readOnlyPort: 0,
    tlsCertFile: files.certificate,
    tlsPrivateKeyFile: files.privateKey,
    tlsMinVersion: 'VersionTLS12',
    tlsCipherSuites: [...ciphers],
    // The agent renews it. What a kubelet gets for itself it would go on with, whoever has signed that.
    rotateCertificates: false,
    clusterDomain: network.domain,
    clusterDNS: [topology.dns],
    maxPods: host.components?.kubelet?.maxPods ?? components.kubelet.maxPods,
    serializeImagePulls: false,
    maxParallelImagePulls: 4,
    shutdownGracePeriod: '60s',
    shutdownGracePeriodCriticalPods: '20s',
    systemReserved: { ...systemReserved },
    kubeReserved: { ...kubeReserved },
    ...(taints.length === 0 ? {} : { registerWithTaints: taints.map((taint) => ({ ...taint })) }),
  }
  return mergeConfig(common, own, components.kubelet.config, host.components?.kubelet?.config)
}
