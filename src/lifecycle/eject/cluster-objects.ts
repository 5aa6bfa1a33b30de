import { stringify } from 'yaml'
import { buildRole, buildRoleBinding } from '../../kube/rbac.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import {
  type EjectInput,
  formatImage,
  isControlPlanePlan,
  selectControlPlaneEndpoint,
} from './eject-context.ts'
import { buildClusterConfiguration } from './kubeadm-config.ts'
import { buildKubeProxyConfig, buildKubeProxyDaemonSet, buildKubeProxyKubeconfig } from './kube-proxy.ts'
import { buildKubeletConfig } from './kubelet-settings.ts'
import { criSocket } from './layout.ts'

const system = 'kube-system'
const joiningNodes = { kind: 'Group', name: 'system:bootstrappers:kubeadm:default-node-token' } as const
const nodes = { kind: 'Group', name: 'system:nodes' } as const

/** Builds the objects that kubeadm reads and expects in a cluster, except those of nodes. */
export function buildKubeadmObjects(input: EjectInput, controlPlane: NodePlan): readonly object[] {
  return [
    buildConfigMap('kubeadm-config', {
      ClusterConfiguration: stringify(buildClusterConfiguration(input, controlPlane)),
    }),
    buildConfigMap('kubelet-config', { kubelet: stringify(buildSharedKubeletConfig(controlPlane)) }),
    buildRoleBinding('kubeadm:cluster-admins', 'cluster-admin', {
      kind: 'Group',
      name: 'kubeadm:cluster-admins',
    }),
    ...buildBootstrapRbac(),
    ...(usesKubeProxy(input.cluster.spec.network) ? buildKubeProxyObjects(input, controlPlane) : []),
  ]
}

/** Builds the kubelet configuration of new nodes. Those with taints get them as a flag of `kubeadm join`. */
function buildSharedKubeletConfig(controlPlane: NodePlan): object {
  const { registerWithTaints: _, ...shared } = buildKubeletConfig(controlPlane)
  return shared
}

/** RBAC rules with which new nodes join, and with which nodes renew their certificates. */
function buildBootstrapRbac(): readonly object[] {
  return [
    buildRoleBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', joiningNodes),
    buildRoleBinding(
      'kubeadm:node-autoapprove-bootstrap',
      'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
      joiningNodes,
    ),
    buildRoleBinding(
      'kubeadm:node-autoapprove-certificate-rotation',
      'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
      nodes,
    ),
    buildRole('kubeadm:get-nodes', [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]),
    buildRoleBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', joiningNodes),
    ...buildConfigMapRole('kubeadm:nodes-kubeadm-config', 'kubeadm-config'),
    ...buildConfigMapRole('kubeadm:kubelet-config', 'kubelet-config'),
  ]
}

/** Lets nodes, and hosts that join, read one ConfigMap. */
function buildConfigMapRole(name: string, configMap: string): readonly object[] {
  const rule = { apiGroups: [''], resources: ['configmaps'], resourceNames: [configMap], verbs: ['get'] }
  const binding = buildRoleBinding(name, name, joiningNodes, system)
  return [
    buildRole(name, [rule], system),
    { ...binding, subjects: [joiningNodes, nodes].map((one) => ({ ...one, apiGroup: rbacGroup })) },
  ]
}

const rbacGroup = 'rbac.authorization.k8s.io'

function buildKubeProxyObjects(input: EjectInput, controlPlane: NodePlan): readonly object[] {
  const account = { kind: 'ServiceAccount', name: 'kube-proxy', namespace: system }
  const endpoint = selectControlPlaneEndpoint(input) ?? ''
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'kube-proxy', namespace: system } },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kubeadm:node-proxier' },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'system:node-proxier' },
      subjects: [account],
    },
    ...buildConfigMapRole('kube-proxy', 'kube-proxy'),
    buildConfigMap('kube-proxy', {
      'config.conf': stringify(buildKubeProxyConfig(controlPlane)),
      'kubeconfig.conf': stringify(buildKubeProxyKubeconfig(endpoint)),
    }),
    buildKubeProxyDaemonSet(formatImage(controlPlane, 'kube-proxy')),
  ]
}

function buildConfigMap(name: string, data: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: system }, data }
}

/** Builds the fields of Node objects that kubeadm reads. */
export function buildNodeObjects({ plans }: EjectInput): readonly object[] {
  return plans.flatMap((plan) =>
    plan.node === undefined
      ? []
      : [
          {
            apiVersion: 'v1',
            kind: 'Node',
            metadata: {
              name: plan.node.name,
              annotations: { 'kubeadm.alpha.kubernetes.io/cri-socket': criSocket },
              ...(isControlPlanePlan(plan)
                ? { labels: { 'node-role.kubernetes.io/control-plane': '' } }
                : {}),
            },
          },
        ],
  )
}
