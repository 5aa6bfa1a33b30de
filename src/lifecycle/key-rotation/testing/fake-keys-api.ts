import { z } from 'zod'
import type { ReceivedRequest, TestResponse } from '../../../kit/testing/https-test-server.ts'
import { applyMergePatch } from '../../../kit/merge-patch.ts'

const object = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    resourceVersion: z.string().optional(),
  }),
})
export type FakeKeysObject = z.infer<typeof object>

interface Stored {
  readonly object: FakeKeysObject
  /** Name of the key that encrypts the object. */
  readonly key: string
}

const listPath = /^\/(?:api|apis\/[^/]+)\/v1\/([a-z]+)$/
const objectPath = /^\/(?:api|apis\/[^/]+)\/v1\/namespaces\/([^/]+)\/([a-z]+)\/([^/]+)$/

const kinds: Readonly<Record<string, object>> = {
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap' },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment' },
  pods: { apiVersion: 'v1', kind: 'Pod' },
  replicasets: { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
  secrets: { apiVersion: 'v1', kind: 'Secret' },
}

/** For tests: an API with objects of some kinds and the etcd behind it. */
export class FakeKeysApi {
  /** Stored objects by `plural/namespace/name`. */
  readonly objects = new Map<string, Stored>()
  /** Name of the key that encrypts new writes. */
  writesWith = 'key1'
  metrics = ''
  /** Called before a PUT is served, with the object's key in `objects`. */
  beforeWrite: (path: string) => void = () => undefined
  #revision = 1

  put(plural: string, given: FakeKeysObject, key = this.writesWith): void {
    const { namespace = '', name } = given.metadata
    this.#revision++
    const resourceVersion = String(this.#revision)
    this.objects.set(`${plural}/${namespace}/${name}`, {
      object: {
        ...kinds[plural],
        ...given,
        metadata: { uid: `uid-of-${name}`, ...given.metadata, resourceVersion },
      },
      key,
    })
  }

  respond({ method, path, query, body }: ReceivedRequest): TestResponse {
    if (path === '/metrics') return { status: 200, text: this.metrics }
    const [, plural] = listPath.exec(path) ?? []
    if (plural !== undefined) return this.#list(plural, query)
    const [, namespace = '', kind = '', name = ''] = objectPath.exec(path) ?? []
    const at = `${kind}/${namespace}/${name}`
    if (method === 'PUT') this.beforeWrite(at)
    const stored = this.objects.get(at)
    if (stored === undefined) return refusal(404)
    if (method === 'GET') return { json: stored.object }
    if (method === 'PATCH') {
      this.put(kind, object.parse(applyMergePatch(stored.object, body)))
      return { json: this.objects.get(at)?.object }
    }
    const given = object.parse(body)
    if (given.metadata.resourceVersion !== stored.object.metadata.resourceVersion) return refusal(409)
    this.put(kind, given)
    return { json: this.objects.get(at)?.object }
  }

  #list(plural: string, query: URLSearchParams): TestResponse {
    const name = /^metadata\.name=(.*)$/.exec(query.get('fieldSelector') ?? '')?.[1]
    const type = /^type=(.*)$/.exec(query.get('fieldSelector') ?? '')?.[1]
    const all = [...this.objects]
      .filter(([at]) => at.startsWith(`${plural}/`))
      .map(([, stored]) => stored.object)
      .filter((one) => name === undefined || one.metadata.name === name)
      .filter((one) => type === undefined || one['type'] === type)
    const from = Number(query.get('continue') ?? 0)
    const pageLimit = Number(query.get('limit') ?? all.length)
    const rest = from + pageLimit < all.length ? { continue: String(from + pageLimit) } : {}
    return { json: { metadata: { resourceVersion: '1', ...rest }, items: all.slice(from, from + pageLimit) } }
  }

  /** Returns the response of etcd to a range request. */
  range(from: string, end: string, limit: number): object {
    const [low, high] = [from, end].map((key) => Buffer.from(key, 'base64').toString('latin1'))
    const kvs = [...this.objects]
      .map(([at, { key }]) => ({ key: `/registry/${at}`, value: `k8s:enc:secretbox:v1:${key}:…` }))
      .filter(({ key }) => key >= (low ?? '') && key < (high ?? ''))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const encoded = kvs.map(({ key, value }) => ({
      key: Buffer.from(key).toString('base64'),
      value: Buffer.from(value).toString('base64'),
    }))
    return { kvs: encoded.slice(0, limit), ...(kvs.length > limit ? { more: true } : {}) }
  }
}

function refusal(status: number): TestResponse {
  return { status, json: { kind: 'Status', code: status, message: 'no', reason: 'no' } }
}
