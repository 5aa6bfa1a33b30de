import type { Contender } from './contender.ts'
import type { ExpectedDifference } from './object-dump.ts'

/** Differences that a running cluster has at any two times. */
const ordinary: readonly ExpectedDifference[] = [
  { reason: 'events, which are created and expire', object: /^events(?:\.events\.k8s\.io)? / },
  { reason: 'leases, which their holders renew', object: /^leases\.coordination\.k8s\.io / },
  {
    reason: 'ConfigMaps that the load creates and changes',
    object: /^configmaps (?:default|workload) (?:load|counted)-/,
  },
  {
    reason: 'certificate signing requests, which expire',
    object: /^certificatesigningrequests\.certificates\.k8s\.io /,
  },
  {
    reason: 'bootstrap tokens and the keys for joins of kubeadm, which expire',
    object: /^(?:secrets kube-system (?:bootstrap-token-|kubeadm-certs)|configmaps kube-public cluster-info)/,
  },
  {
    reason: 'endpoints of pods, which change with readiness',
    object: /^(?:endpoints|endpointslices\.discovery\.k8s\.io) /,
  },
]

/** Differences that the move itself causes. */
const moved: readonly ExpectedDifference[] = [
  {
    reason:
      'objects of hyperkube: RBAC rules, CustomResourceDefinitions, admission policies and their objects',
    object: /hyperkube/,
    // They stay after a rollback, and the next move changes them.
    changes: ['added', 'changed'],
  },
  {
    reason: 'labels, annotations and taints of nodes',
    object: /^nodes /,
    path: /^(?:metadata\.(?:labels|annotations)\.|spec\.taints)/,
  },
  {
    reason: 'annotations of CSINodes, which kubelets write',
    object: /^csinodes\.storage\.k8s\.io /,
    path: /^metadata\.annotations\./,
  },
  {
    reason: 'what API servers publish about clients of extension API servers',
    object: /^configmaps kube-system extension-apiserver-authentication$/,
    path: /^data\./,
  },
  {
    reason: 'mirror pods of components that are no static pods any more',
    object: /^pods kube-system (?:etcd|kube-(?:apiserver|controller-manager|scheduler))-/,
  },
]

/** Pods that nodes create again when Docker ends, and when nodes are drained. Those of a StatefulSet keep their names. */
const recreatedPods: ExpectedDifference = { reason: 'pods, which are created again', object: /^pods / }

/** Lists the differences that a move, or a move and its rollback, may cause. */
export function listMoveDifferences({
  recreatesPods,
}: Pick<Contender, 'recreatesPods'>): readonly ExpectedDifference[] {
  return [...ordinary, ...moved, ...(recreatesPods ? [recreatedPods] : [])]
}

/** Lists the differences that a move, a commit, rotated keys and an upgrade may cause. */
export const journeyDifferences: readonly ExpectedDifference[] = [
  ...ordinary,
  ...moved,
  recreatedPods,
  {
    reason: 'the CA in each namespace, which was rotated',
    object: /^configmaps \S+ kube-root-ca\.crt$/,
    path: /^data\./,
  },
  {
    reason: 'workloads that the rotation restarted, with the time of the restart',
    object: /^(?:deployments|daemonsets|statefulsets)\.apps /,
    path: /restartedAt|^metadata\.generation$|deployment\.kubernetes\.io\/revision|deprecated\.daemonset\.template\.generation/,
  },
  {
    reason: 'revisions of the restarted workloads',
    object: /^(?:replicasets|controllerrevisions)\.apps /,
  },
  {
    reason:
      'objects that each version of the API server writes itself: default RBAC rules, priority levels, flow schemas, APIServices',
    object:
      /^(?:clusterroles|clusterrolebindings|roles|rolebindings)\.rbac\.authorization\.k8s\.io \S* ?(?:system:|kubeadm:|admin$|edit$|view$|cluster-admin$)|^(?:flowschemas|prioritylevelconfigurations)\.flowcontrol\.apiserver\.k8s\.io |^apiservices\.apiregistration\.k8s\.io /,
  },
  {
    reason: 'objects of kinds that only the newer version has, and addresses that it allocates',
    object:
      /^(?:(?:servicecidrs|ipaddresses)\.networking\.k8s\.io |clustertrustbundles\.certificates\.k8s\.io  kubernetes\.io:)/,
    changes: ['added', 'changed'],
  },
  {
    reason: 'service accounts of controllers that only the newer version has',
    object: /^serviceaccounts kube-system [a-z-]+(?:controller|publisher|cleaner)$/,
    changes: ['added'],
  },
  {
    reason: 'null as the time of creation in templates, which newer API servers leave out',
    object: /^\S+\.(?:apps|batch) /,
    path: /^spec\.(?:template|volumeClaimTemplates\.\d+)\.metadata\.creationTimestamp$/,
  },
  {
    reason: 'fields that the newer version sets to their defaults',
    object: /^statefulsets\.apps /,
    path: /^spec\.updateStrategy\.rollingUpdate\.maxUnavailable$/,
  },
]
