import { z } from 'zod'
import { isKubeError, KubeError } from './kube-error.ts'
import { parseAnswer } from './parse-response.ts'
import { versionPath } from './paths.ts'
import type { CallOptions } from './request.ts'
import { knownResource, type Resource } from './resources.ts'

const resourceList = z.looseObject({
  resources: z.array(z.looseObject({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
})

const group = z.looseObject({ versions: z.array(z.looseObject({ groupVersion: z.string() })) })

type Offers = ReadonlyMap<string, Resource>
export type Fetch = (path: string, options: CallOptions) => Promise<unknown>

/** Which kinds a cluster has, and how they are called. What was found once is remembered; what was not is asked again. */
export class Discovery {
  readonly #fetch: Fetch
  readonly #offers = new Map<string, Offers>()

  constructor(fetch: Fetch) {
    this.#fetch = fetch
  }

  async resource(
    { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
    options: CallOptions = {},
  ): Promise<Resource> {
    const found = knownResource(apiVersion, kind) ?? this.#offers.get(apiVersion)?.get(kind)
    if (found !== undefined) return found
    const offers = await this.#ask(apiVersion, options)
    this.#offers.set(apiVersion, offers)
    const resource = offers.get(kind)
    if (resource !== undefined) return resource
    throw new KubeError('KUBE_KIND_UNKNOWN', `the cluster has no ${kind} in ${apiVersion}`, {
      hint: 'the definition of the kind must be there before objects of it are',
    })
  }

  /** As which versions the cluster has the objects of a group, the one that it prefers first. None when it has no such group. */
  async versions(name: string, { signal, timeout }: CallOptions = {}): Promise<string[]> {
    if (name === '') return ['v1']
    const path = `/apis/${name}`
    try {
      const { versions } = parseAnswer(group, await this.#fetch(path, { signal, timeout }), path)
      return versions.map(({ groupVersion }) => groupVersion)
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return []
      throw error
    }
  }

  async #ask(apiVersion: string, { signal, timeout }: CallOptions): Promise<Offers> {
    const path = versionPath(apiVersion)
    try {
      const { resources } = parseAnswer(resourceList, await this.#fetch(path, { signal, timeout }), path)
      // With a slash they are parts of others: pods/log.
      const whole = resources.filter(({ name }) => !name.includes('/'))
      return new Map(
        whole.map(({ name, kind, namespaced }) => [kind, { apiVersion, plural: name, namespaced }]),
      )
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return new Map()
      throw error
    }
  }
}
