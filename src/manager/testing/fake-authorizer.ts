import { z } from 'zod'
import type { Asked } from '../../kit/testing/https-test-server.ts'
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

/** What somebody wants to do, as RBAC sees it. */
export interface Act {
  readonly user: string
  readonly verb: string
  readonly group: string
  /** With what is written apart from the rest: nodes/status; or a path that is no resource. */
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** RBAC as the API has it, over the objects that were generated: it allows nothing else, and knows what was made use of. */
export class TestAuthorizer {
  readonly #objects: readonly z.infer<typeof object>[]
  readonly #used = new Set<string>()
  readonly refused: Act[] = []

  constructor(manifests: readonly Manifest[]) {
    this.#objects = manifests.map((manifest) => object.parse(manifest))
  }

  mayDo(act: Act): boolean {
    const rules = this.#objects
      .filter(({ subjects }) => subjects.some(({ name }) => name === act.user))
      .filter(({ metadata }) => metadata.namespace === undefined || metadata.namespace === act.namespace)
      .flatMap((bound) =>
        this.#objects.filter(
          ({ metadata, rules: own }) =>
            own.length > 0 &&
            metadata.name === bound.roleRef?.name &&
            metadata.namespace === bound.metadata.namespace,
        ),
      )
      .flatMap(({ rules: own }) => own)
    const fitting = rules.find((one) => fits(one, act))
    if (fitting === undefined) this.refused.push(act)
    else this.#used.add(`${act.user} ${act.verb} ${act.resource}`)
    return fitting !== undefined
  }

  /** What was allowed and never made use of: `user verb resource`. */
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

function fits(
  { apiGroups, resources, resourceNames, nonResourceURLs, verbs }: z.infer<typeof rule>,
  { verb, group, resource, name }: Act,
): boolean {
  const has = (some: readonly string[], one: string): boolean => some.includes(one) || some.includes('*')
  if (!has(verbs, verb)) return false
  if (nonResourceURLs.includes(resource)) return true
  const named = resourceNames === undefined || (name !== undefined && resourceNames.includes(name))
  return has(apiGroups, group) && has(resources, resource) && named
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** What a request is to RBAC. */
export function actOf({ method, path, query }: Asked, user: string): Act {
  const form =
    /^\/(?:api|apis\/(?<group>[^/]+))\/v\d[^/]*(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>[^/]+))?$/
  const { group = '', namespace, plural, name: inPath, part } = form.exec(path)?.groups ?? {}
  // Who lists or watches one object by its name is judged by that name.
  const [, selected] = /^metadata\.name=([^,]+)$/.exec(query.get('fieldSelector') ?? '') ?? []
  const name = inPath ?? selected
  const reading = inPath === undefined && plural !== undefined ? 'list' : 'get'
  const verb = verbs[method] ?? (query.get('watch') === 'true' ? 'watch' : reading)
  const resource = plural === undefined ? path : [plural, part].filter(Boolean).join('/')
  return { user, verb, group, resource, namespace, name }
}
