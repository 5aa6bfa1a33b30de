import { clusterViews, type ClusterViewName, logSearch, type ViewRequest } from './views.ts'

/** Parses a path such as `api/fleet` or `api/clusters/shop/status`. Returns undefined for other paths. */
export function parseViewPath(path: string, parameters: URLSearchParams): ViewRequest | undefined {
  const [root, first, encoded, view, ...rest] = path.split('/')
  if (root !== 'api' || rest.length > 0) return undefined
  if ((first === 'overview' || first === 'fleet') && encoded === undefined) return { view: first }
  const cluster = decodePart(encoded)
  if (first !== 'clusters' || cluster === undefined || !isClusterView(view)) return undefined
  switch (view) {
    case 'run': {
      const run = parameters.get('name')
      return run === null ? undefined : { view, cluster, run }
    }
    case 'logs': {
      // An empty field of a form means the same as no field.
      const given = [...parameters].filter(([, value]) => value !== '')
      const { success, data: search } = logSearch.safeParse(Object.fromEntries(given))
      return success ? { view, cluster, search } : undefined
    }
    default:
      return { view, cluster }
  }
}

/** Parses a path such as `api/clusters/shop/up`, and returns the name of the cluster. */
export function parseApplyPath(path: string): string | undefined {
  const [root, first, encoded, action, ...rest] = path.split('/')
  const isApply = root === 'api' && first === 'clusters' && action === 'up' && rest.length === 0
  return isApply ? decodePart(encoded) : undefined
}

function decodePart(part: string | undefined): string | undefined {
  if (part === undefined) return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function isClusterView(name: string | undefined): name is ClusterViewName {
  return name !== undefined && Object.hasOwn(clusterViews, name)
}
