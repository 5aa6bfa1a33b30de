import { z } from 'zod'
import type { ReceivedRequest, TestResponse } from '../../../kit/testing/https-test-server.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { FakeKubeApi } from '../../../kube/testing/fake-kube-api.ts'
import { parseJsonFields } from '../../../kube/testing/field-set.ts'

const object = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
})
export type EncryptedObject = z.infer<typeof object>

const kinds = {
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap' },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment' },
  pods: { apiVersion: 'v1', kind: 'Pod' },
  replicasets: { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
  secrets: { apiVersion: 'v1', kind: 'Secret' },
} as const
export type EncryptedPlural = keyof typeof kinds

/** A fake API together with the etcd behind it, which shows the key that encrypts each object. */
export class EncryptedCluster {
  readonly api = new FakeKubeApi()
  /** Name of the key that encrypts new writes. */
  writesWith = 'key1'
  metrics = ''
  /** Called before a PUT is served, with the `plural/namespace/name` of the object. */
  beforeWrite: (at: string) => void = () => undefined
  /** Names of the encrypting keys by `plural/namespace/name`. */
  readonly #keys = new Map<string, string>()
  #puts = 0

  constructor() {
    this.api.onRequest = (request) => this.#handle(request)
    // The Deployment controller observes every change at once.
    this.api.status = ({ kind, metadata, status }) =>
      kind === 'Deployment'
        ? { ...parseJsonFields(status), observedGeneration: parseJsonFields(metadata)['generation'] }
        : undefined
    // Every write encrypts the object again, even if the write changes nothing.
    this.api.onChange = ({ path }) => void this.#keys.set(parseLocation(path), this.writesWith)
  }

  /** Stores a changed version of an object, encrypted with `key`. */
  put(plural: EncryptedPlural, { metadata, ...given }: EncryptedObject, key = this.writesWith): void {
    const at = `${plural}/${metadata.namespace}/${metadata.name}`
    const annotations = { put: String(++this.#puts) }
    this.api.put(formatPath(at), {
      ...kinds[plural],
      ...given,
      metadata: { uid: `uid-of-${metadata.name}`, annotations, ...metadata },
    })
    this.#keys.set(at, key)
  }

  get(at: string): KubeObject | undefined {
    return this.api.get(formatPath(at))
  }

  remove(at: string): void {
    this.#keys.delete(at)
    this.api.remove(formatPath(at))
  }

  /** Names of the keys that encrypt at least one object. */
  get usedKeys(): ReadonlySet<string> {
    return new Set(this.#keys.values())
  }

  /** Returns the response of etcd to a range request. */
  range(from: string, end: string, limit: number): object {
    const [low, high] = [from, end].map((key) => Buffer.from(key, 'base64').toString('latin1'))
    const kvs = [...this.#keys]
      .map(([at, key]) => ({ key: `/registry/${at}`, value: `k8s:enc:secretbox:v1:${key}:…` }))
      .filter(({ key }) => key >= (low ?? '') && key < (high ?? ''))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const encoded = kvs.map(({ key, value }) => ({
      key: Buffer.from(key).toString('base64'),
      value: Buffer.from(value).toString('base64'),
    }))
    return { kvs: encoded.slice(0, limit), ...(kvs.length > limit ? { more: true } : {}) }
  }

  #handle({ method, path }: ReceivedRequest): TestResponse | undefined {
    if (path === '/metrics') return { status: 200, text: this.metrics }
    if (method === 'PUT') this.beforeWrite(parseLocation(path))
    return undefined
  }
}

function formatPath(at: string): string {
  const [plural = '', namespace = '', name = ''] = at.split('/')
  const isApps = plural === 'deployments' || plural === 'replicasets'
  return `${isApps ? '/apis/apps/v1' : '/api/v1'}/namespaces/${namespace}/${plural}/${name}`
}

function parseLocation(path: string): string {
  const [, namespace, plural, name] = /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)/.exec(path) ?? []
  return `${plural}/${namespace}/${name}`
}
