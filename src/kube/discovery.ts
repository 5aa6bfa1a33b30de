import { z } from 'zod'
import { isKubeError, KubeError } from './kube-error.ts'
import { parseKubeResponse } from './parse-response.ts'
import { versionPath } from './paths.ts'
import type { KubeCallOptions } from './request.ts'
import { findKnownResource, type ApiResource } from './resources.ts'

const resourceList = z.looseObject({
  resources: z.array(z.looseObject({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
})

const group = z.looseObject({ versions: z.array(z.looseObject({ groupVersion: z.string() })) })

type ResourcesByKind = ReadonlyMap<string, ApiResource>
export type FetchJson = (path: string, options: KubeCallOptions) => Promise<unknown>

/**
 * Finds the API resource of each kind. Kinds that were found are cached; missing kinds are looked up again.
 */
export class Discovery {
  readonly #fetch: FetchJson
  readonly #discovered = new Map<string, ResourcesByKind>()

  constructor(fetch: FetchJson) {
    this.#fetch = fetch
  }

  async resource(
    { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
    options: KubeCallOptions = {},
  ): Promise<ApiResource> {
    const found = findKnownResource(apiVersion, kind) ?? this.#discovered.get(apiVersion)?.get(kind)
    if (found !== undefined) return found
    const byKind = await this.#discover(apiVersion, options)
    this.#discovered.set(apiVersion, byKind)
    const resource = byKind.get(kind)
    if (resource !== undefined) return resource
    throw new KubeError('KUBE_KIND_UNKNOWN', `the cluster has no ${kind} in ${apiVersion}`, {
      hint: 'the definition of the kind must be there before objects of it are',
    })
  }

  /**
   * Lists the versions of an API group, preferred version first. Empty if the cluster does not serve the
   * group.
   */
  async versions(name: string, { signal, timeout }: KubeCallOptions = {}): Promise<string[]> {
    if (name === '') return ['v1']
    const path = `/apis/${name}`
    try {
      const { versions } = parseKubeResponse(group, await this.#fetch(path, { signal, timeout }), path)
      return versions.map(({ groupVersion }) => groupVersion)
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return []
      throw error
    }
  }

  async #discover(apiVersion: string, { signal, timeout }: KubeCallOptions): Promise<ResourcesByKind> {
    const path = versionPath(apiVersion)
    try {
      const { resources } = parseKubeResponse(
        resourceList,
        await this.#fetch(path, { signal, timeout }),
        path,
      )
      // Names with a slash are subresources, such as pods/log.
      const topLevel = resources.filter(({ name }) => !name.includes('/'))
      return new Map(
        topLevel.map(({ name, kind, namespaced }) => [kind, { apiVersion, plural: name, namespaced }]),
      )
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return new Map()
      throw error
    }
  }
}
