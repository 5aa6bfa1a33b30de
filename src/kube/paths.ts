import { KubeError } from './kube-error.ts'
import type { Place } from './object.ts'
import type { Resource } from './resources.ts'

/** Where a version of a group is. The first group has no name, and a place of its own. */
export function versionPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

/** All objects of a kind; of one namespace, where one is given. */
export function collectionPath({ apiVersion, plural, namespaced }: Resource, namespace?: string): string {
  if (!namespaced && namespace !== undefined)
    throw wrong(`${plural} are in no namespace, also not in ${namespace}`)
  const within = namespace === undefined ? '' : `/namespaces/${segment(namespace)}`
  return `${versionPath(apiVersion)}${within}/${plural}`
}

/** `part` is what only some have: status, scale. */
export function objectPath(resource: Resource, { namespace, name }: Place, part?: string): string {
  if (resource.namespaced && namespace === undefined) {
    throw wrong(`${resource.plural} are in namespaces, and none is given for ${name}`)
  }
  const path = `${collectionPath(resource, namespace)}/${segment(name)}`
  return part === undefined ? path : `${path}/${part}`
}

/** Without this, a name that is empty would be all objects of the kind: a DELETE of one would delete them all. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name)) {
    throw wrong(`${JSON.stringify(name)} is not the name of an object`)
  }
  return encodeURIComponent(name)
}

function wrong(message: string): KubeError {
  return new KubeError('KUBE_INVALID', message)
}
