import { z } from 'zod'
import type { ReceivedRequest, TestResponse } from '../../../kit/testing/https-test-server.ts'
import { type RenewalSigningRequest, renewalSigningRequestKind } from '../signing-request.ts'

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

/** For tests: the part of the certificates.k8s.io API that hosts use. */
export class FakeSigningApi {
  readonly items = new Map<string, RenewalSigningRequest>()
  #version = 0

  readonly respond = (request: ReceivedRequest): TestResponse => {
    const [name, part] = request.path.slice(collection.length + 1).split('/')
    if (!request.path.startsWith(collection)) return buildRefusal(404, 'NotFound')
    if (request.method === 'POST') return this.#create(request)
    if (name === undefined || name === '') return { json: this.#list(request) }
    const item = this.items.get(name)
    if (item === undefined) return buildRefusal(404, 'NotFound')
    return request.method === 'GET' ? { json: item } : this.#replace(request, item, part ?? '')
  }

  #create({ body, user }: ReceivedRequest): TestResponse {
    const manifest = z.looseObject({ spec: z.looseObject({}) }).parse(body)
    const groups = user.startsWith('system:node:') ? ['system:nodes', 'system:authenticated'] : []
    const spec = { ...manifest.spec, username: user, groups }
    const item = renewalSigningRequestKind.schema.parse({ ...manifest, spec })
    if (this.items.has(item.metadata.name)) return buildRefusal(409, 'AlreadyExists')
    const { metadata } = item
    return this.store({ ...item, metadata: { ...metadata, creationTimestamp: new Date().toISOString() } })
  }

  #list({ query }: ReceivedRequest): object {
    const signer = (query.get('fieldSelector') ?? '').replace('spec.signerName=', '')
    const items = [...this.items.values()].filter(({ spec }) => spec['signerName'] === signer)
    return { metadata: { resourceVersion: String(this.#version) }, items }
  }

  /**
   * Replaces a request. Only agents of control planes may do this, and only with the newest resourceVersion.
   */
  #replace({ body, user }: ReceivedRequest, previous: RenewalSigningRequest, part: string): TestResponse {
    const next = renewalSigningRequestKind.schema.parse(body)
    if (user !== 'hyperkube:agent') return buildRefusal(403, 'Forbidden')
    if (next.metadata.resourceVersion !== previous.metadata.resourceVersion)
      return buildRefusal(409, 'Conflict')
    const { conditions } = next.status
    if (part === 'approval') return this.store({ ...previous, status: { ...previous.status, conditions } })
    return part === 'status'
      ? this.store({ ...previous, status: next.status })
      : buildRefusal(405, 'MethodNotAllowed')
  }

  store(item: RenewalSigningRequest): TestResponse {
    const { metadata } = item
    const stored = { ...item, metadata: { ...metadata, resourceVersion: String(++this.#version) } }
    this.items.set(metadata.name, stored)
    return { json: stored }
  }
}

function buildRefusal(status: number, reason: string): TestResponse {
  return { status, json: { kind: 'Status', reason, message: reason } }
}
