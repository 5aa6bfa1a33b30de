import { z } from 'zod'
import type { ReceivedRequest } from '../../kit/testing/https-test-server.ts'
import type { Manifest } from '../../kube/object.ts'

const rule = z.object({
  apiGroups: z.array(z.string()).default([]),
  resources: z.array(z.string()).default([]),
  resourceNames: z.array(z.string()).optional(),
  nonResourceURLs: z.array(z.string()).default([]),
  verbs: z.array(z.string()),
})
const object = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z.array(rule).default([]),
  roleRef: z.object({ name: z.string() }).optional(),
  subjects: z.array(z.object({ name: z.string() })).default([]),
})

/** The attributes of an API request that RBAC checks. */
export interface AccessRequest {
  readonly user: string
  readonly verb: string
  readonly group: string
  /**
   * Resource with its subresource, for example nodes/status. For a request that is not about a resource, the
   * path.
   */
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** Evaluates the generated RBAC objects like the API server, and records which rules were used. */
export class FakeAuthorizer {
  readonly #objects: readonly z.infer<typeof object>[]
  readonly #used = new Set<string>()
  readonly refused: AccessRequest[] = []

  constructor(manifests: readonly Manifest[]) {
    this.#objects = manifests.map((manifest) => object.parse(manifest))
  }

  authorize(access: AccessRequest): boolean {
    const rules = this.#objects
      .filter(({ subjects }) => subjects.some(({ name }) => name === access.user))
      .filter(({ metadata }) => metadata.namespace === undefined || metadata.namespace === access.namespace)
      .flatMap((bound) =>
        this.#objects.filter(
          ({ metadata, rules: own }) =>
            own.length > 0 &&
            metadata.name === bound.roleRef?.name &&
            metadata.namespace === bound.metadata.namespace,
        ),
      )
      .flatMap(({ rules: own }) => own)
    const matchingRule = rules.find((one) => matchesRule(one, access))
    if (matchingRule === undefined) this.refused.push(access)
    else this.#used.add(`${access.user} ${access.verb} ${access.resource}`)
    return matchingRule !== undefined
  }

  /** Lists rules that were never used, as `user verb resource`. */
  get unused(): string[] {
    const bound = this.#objects.flatMap(({ metadata, rules, roleRef }) =>
      roleRef === undefined ? rules.map((one) => ({ ...one, user: metadata.name })) : [],
    )
    const all = bound.flatMap(({ user, verbs, resources, nonResourceURLs }) =>
      verbs.flatMap((verb) => [...resources, ...nonResourceURLs].map((what) => `${user} ${verb} ${what}`)),
    )
    return [...new Set(all)].filter((one) => !this.#used.has(one))
  }
}

function matchesRule(
  { apiGroups, resources, resourceNames, nonResourceURLs, verbs }: z.infer<typeof rule>,
  { verb, group, resource, name }: AccessRequest,
): boolean {
  const includes = (some: readonly string[], one: string): boolean => some.includes(one) || some.includes('*')
  if (!includes(verbs, verb)) return false
  if (nonResourceURLs.includes(resource)) return true
  const named = resourceNames === undefined || (name !== undefined && resourceNames.includes(name))
  return includes(apiGroups, group) && includes(resources, resource) && named
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Converts an HTTP request to the attributes that RBAC checks. */
export function toAccessRequest({ method, path, query }: ReceivedRequest, user: string): AccessRequest {
  const pathPattern =
    /^\/(?:api|apis\/(?<group>[^/]+))\/v\d[^/]*(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>[^/]+))?$/
  const {
    group = '',
    namespace,
    plural,
    name: inPath,
    part: subresource,
  } = pathPattern.exec(path)?.groups ?? {}
  // If a list or watch selects one object by name, RBAC checks this name.
  const [, selected] = /^metadata\.name=([^,]+)$/.exec(query.get('fieldSelector') ?? '') ?? []
  const name = inPath ?? selected
  const reading = inPath === undefined && plural !== undefined ? 'list' : 'get'
  const verb = verbs[method] ?? (query.get('watch') === 'true' ? 'watch' : reading)
  const resource = plural === undefined ? path : [plural, subresource].filter(Boolean).join('/')
  return { user, verb, group, resource, namespace, name }
}
