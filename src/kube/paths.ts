import { KubeError } from './kube-error.ts'
import type { NamespacedName } from './object.ts'
import type { ApiResource } from './resources.ts'

/** Returns the path of an API version. The core group has no name and uses the prefix /api. */
export function versionPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

/** Returns the path of all objects of a resource, or of those in one namespace. */
export function collectionPath({ apiVersion, plural, namespaced }: ApiResource, namespace?: string): string {
  if (!namespaced && namespace !== undefined)
    throw buildInvalidError(`${plural} are in no namespace, also not in ${namespace}`)
  const namespaceSegment = namespace === undefined ? '' : `/namespaces/${encodeSegment(namespace)}`
  return `${versionPath(apiVersion)}${namespaceSegment}/${plural}`
}

/** Returns the path of an object. `subresource` is for example status or scale. */
export function objectPath(
  resource: ApiResource,
  { namespace, name }: NamespacedName,
  subresource?: string,
): string {
  if (resource.namespaced && namespace === undefined) {
    throw buildInvalidError(`${resource.plural} are in namespaces, and none is given for ${name}`)
  }
  const path = `${collectionPath(resource, namespace)}/${encodeSegment(name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/**
 * Encodes a name for a path and rejects invalid names. With an empty name, a DELETE would remove the whole
 * collection.
 */
function encodeSegment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name)) {
    throw buildInvalidError(`${JSON.stringify(name)} is not the name of an object`)
  }
  return encodeURIComponent(name)
}

function buildInvalidError(message: string): KubeError {
  return new KubeError('KUBE_INVALID', message)
}
