import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { buildBaseObjects } from '../../src/kube/base-objects.ts'

const collections: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
}

/** Creates the cluster-wide RBAC objects that `up` creates for node users such as flannel and kube-proxy. */
export async function ensureNodeUserRbac(api: KubeApi): Promise<void> {
  for (const object of buildBaseObjects({ windows: false })) {
    const collection = collections[object.kind]
    if (collection !== undefined) await api.ensure(`/apis/rbac.authorization.k8s.io/v1/${collection}`, object)
  }
}
