import { clusterViews, type ClusterViewName, type ViewRequest } from './views.ts'

/** Parses a path such as `api/fleet` or `api/clusters/shop/status`. Returns undefined for other paths. */
export function parseViewPath(path: string): ViewRequest | undefined {
  const [root, first, cluster, view, ...rest] = path.split('/')
  if (root !== 'api' || rest.length > 0) return undefined
  if ((first === 'overview' || first === 'fleet') && cluster === undefined) return { view: first }
  if (first !== 'clusters' || cluster === undefined || !isClusterView(view)) return undefined
  try {
    return { view, cluster: decodeURIComponent(cluster) }
  } catch {
    return undefined
  }
}

function isClusterView(name: string | undefined): name is ClusterViewName {
  return name !== undefined && Object.hasOwn(clusterViews, name)
}
