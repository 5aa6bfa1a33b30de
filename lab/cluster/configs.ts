import { stringify } from 'yaml'
import { clusterNetwork } from './units.ts'

/**
 * Kubelet settings for lab hosts, which have cgroup version 1 and share the disk of the machine that runs the
 * lab.
 */
export const hostSettings = {
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  failSwapOn: false,
  // Disables image GC. The disk of the machine that runs the lab may be nearly full, and the kubelet would
  // delete imported images before their first use.
  imageGCHighThresholdPercent: 100,
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
}

/**
 * `maxPerCore: 0` keeps the conntrack limit unchanged. kube-proxy cannot set the limit inside a container and
 * would exit.
 */
export const kubeProxyConfig = {
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  mode: 'nftables',
  clusterCIDR: clusterNetwork.pods,
  conntrack: { maxPerCore: 0 },
}

export const flannelConfig: string = JSON.stringify({
  Network: clusterNetwork.pods,
  EnableNFTables: true,
  Backend: { Type: 'vxlan', VNI: 4096, Port: 4789 },
})

/** Renders config.toml. `restrict_oom_score_adj` is needed because lab hosts lack CAP_SYS_RESOURCE. */
export function renderContainerdConfig(pause: string): string {
  return `version = 3

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '${pause}'

[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  SystemdCgroup = false
`
}

export function renderKubeconfig(
  server: string,
  ca: string,
  user: { certificate: string; key: string },
): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority-data': encode(ca) } }],
    users: [
      {
        name: 'user',
        user: { 'client-certificate-data': encode(user.certificate), 'client-key-data': encode(user.key) },
      },
    ],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'user' } }],
    'current-context': 'lab',
  })
}
