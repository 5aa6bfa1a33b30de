import type { ApiAttempt } from './attack.ts'

/** An attempt against the Kubernetes API, with what it would give the attacker. */
export interface ApiAttack extends ApiAttempt {
  readonly what: string
}

/**
 * Attempts that must fail with every credential of a worker. `namespace` is the namespace of the credential.
 */
export function buildCommonAttacks(namespace: string): ApiAttack[] {
  return [
    { what: 'list all Secrets', method: 'GET', path: '/api/v1/secrets?limit=1' },
    {
      what: 'list Secrets of kube-system',
      method: 'GET',
      path: '/api/v1/namespaces/kube-system/secrets?limit=1',
    },
    { what: 'read a Secret of a tenant', method: 'GET', path: '/api/v1/namespaces/victim/secrets/password' },
    createPod('kube-system'),
    createPod(namespace),
    {
      what: 'create a PersistentVolume of a host directory',
      method: 'POST',
      path: '/api/v1/persistentvolumes?dryRun=All',
      body: hostPathVolume,
    },
    {
      what: 'become system:masters by impersonation',
      method: 'GET',
      path: '/api/v1/namespaces/kube-system/secrets?limit=1',
      headers: { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' },
    },
    {
      what: 'create a ClusterRoleBinding to cluster-admin',
      method: 'POST',
      path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?dryRun=All',
      body: adminBinding,
    },
    {
      what: 'run commands on a control plane through nodes/proxy',
      method: 'GET',
      path: '/api/v1/nodes/cp1/proxy/pods',
    },
    {
      what: 'request a token of clusterrole-aggregation-controller',
      method: 'POST',
      path: '/api/v1/namespaces/kube-system/serviceaccounts/clusterrole-aggregation-controller/token?dryRun=All',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [] } },
    },
    {
      what: 'change status, labels and addresses of another worker',
      method: 'PATCH',
      path: '/api/v1/nodes/w2/status?dryRun=All',
      body: {
        metadata: { annotations: { 'flannel.alpha.coreos.com/public-ip': '192.0.2.1' } },
      },
    },
    {
      what: 'label its own node as a control plane',
      method: 'PATCH',
      path: '/api/v1/nodes/w1/status?dryRun=All',
      body: { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } },
    },
    { what: 'delete another node', method: 'DELETE', path: '/api/v1/nodes/w2?dryRun=All' },
  ]
}

function createPod(namespace: string): ApiAttack {
  return {
    what: `create a privileged pod on a control plane in ${namespace}`,
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
    body: privilegedPod,
  }
}

const privilegedPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'attack' },
  spec: {
    nodeName: 'cp1',
    hostPID: true,
    containers: [
      {
        name: 'attack',
        image: 'attack',
        securityContext: { privileged: true },
        volumeMounts: [{ name: 'root', mountPath: '/host' }],
      },
    ],
    volumes: [{ name: 'root', hostPath: { path: '/' } }],
  },
}

const hostPathVolume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'attack' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/' },
    storageClassName: 'attack',
  },
}

const adminBinding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'attack' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:node:w1' }],
}

/** Attempts that a node identity could make if Node authorizer and NodeRestriction did not limit it. */
export const nodeAttacks: readonly ApiAttack[] = [
  {
    what: 'create a mirror pod on another node',
    method: 'POST',
    path: '/api/v1/namespaces/default/pods?dryRun=All',
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'attack-w2', annotations: { 'kubernetes.io/config.mirror': 'x' } },
      spec: { nodeName: 'w2', containers: [{ name: 'attack', image: 'attack' }] },
    },
  },
  {
    what: 'renew the lease of another node',
    method: 'PATCH',
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w2?dryRun=All',
    body: { spec: { holderIdentity: 'w1' } },
  },
  {
    what: 'report the status of another host',
    method: 'PATCH',
    path: '/apis/hyperkube.dev/v1/hosts/w2/status?dryRun=All',
    body: { status: { agent: 'attack' } },
  },
  {
    what: 'change the spec of its own host',
    method: 'PATCH',
    path: '/apis/hyperkube.dev/v1/hosts/w1?dryRun=All',
    body: { spec: { names: { dns: ['cp1'], ip: [] } } },
  },
  {
    what: 'remove the taints of its own node',
    method: 'PATCH',
    path: '/api/v1/nodes/w1?dryRun=All',
    body: { spec: { taints: [{ key: 'attack', value: 'x', effect: 'NoSchedule' }] } },
  },
  {
    what: 'label its own node as a control plane through the node itself',
    method: 'PATCH',
    path: '/api/v1/nodes/w1?dryRun=All',
    body: { metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } },
  },
]
