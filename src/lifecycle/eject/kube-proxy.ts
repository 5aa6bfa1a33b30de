import type { NodePlan } from '../../contract/node-plan.ts'
import { readPlannedConfig } from './kubelet-settings.ts'

/** Returns the configuration of kube-proxy for the ConfigMap of kubeadm. */
export function buildKubeProxyConfig(plan: NodePlan): Record<string, unknown> {
  return {
    ...readPlannedConfig(plan, 'kube-proxy'),
    clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
  }
}

const metadata = { name: 'kube-proxy', namespace: 'kube-system' }
const labels = { 'k8s-app': 'kube-proxy' }
/**
 * Label of nodes on which kube-proxy runs as a pod. Two kube-proxies on a node would disturb each other. A kubelet
 * may set labels with this prefix on its own node.
 */
export const kubeProxyLabel = { name: 'node.kubernetes.io/kube-proxy', value: 'kubeadm' } as const
const tokenDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Builds the kubeconfig of kube-proxy in a pod. */
export function buildKubeProxyKubeconfig(endpoint: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default',
        cluster: { 'certificate-authority': `${tokenDirectory}/ca.crt`, server: `https://${endpoint}` },
      },
    ],
    contexts: [{ name: 'default', context: { cluster: 'default', namespace: 'default', user: 'default' } }],
    'current-context': 'default',
    users: [{ name: 'default', user: { tokenFile: `${tokenDirectory}/token` } }],
  }
}

/** Builds the DaemonSet of kubeadm, for nodes with the label. */
export function buildKubeProxyDaemonSet(image: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...metadata, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-node-critical',
          containers: [
            {
              name: 'kube-proxy',
              image,
              imagePullPolicy: 'IfNotPresent',
              command: [
                '/usr/local/bin/kube-proxy',
                '--config=/var/lib/kube-proxy/config.conf',
                '--hostname-override=$(NODE_NAME)',
              ],
              securityContext: { privileged: true },
              volumeMounts: [
                { mountPath: '/var/lib/kube-proxy', name: 'kube-proxy' },
                { mountPath: '/run/xtables.lock', name: 'xtables-lock', readOnly: false },
                { mountPath: '/lib/modules', name: 'lib-modules', readOnly: true },
              ],
              env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
            },
          ],
          hostNetwork: true,
          serviceAccountName: 'kube-proxy',
          volumes: [
            { name: 'kube-proxy', configMap: { name: 'kube-proxy' } },
            { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
            { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
          ],
          tolerations: [{ operator: 'Exists' }],
          nodeSelector: { 'kubernetes.io/os': 'linux', [kubeProxyLabel.name]: kubeProxyLabel.value },
        },
      },
    },
  }
}
