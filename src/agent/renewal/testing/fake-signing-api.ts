import { z } from 'zod'
import type { Asked, TestAnswer } from '../../../kit/testing/https-test-server.ts'
import { type SigningRequest, signingRequestKind } from '../signing-request.ts'

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

/** For tests: what the API does with requests for certificates, as far as hosts see it. */
export class TestSigningApi {
  readonly items = new Map<string, SigningRequest>()
  #version = 0

  readonly answer = (asked: Asked): TestAnswer => {
    const [name, part] = asked.path.slice(collection.length + 1).split('/')
    if (!asked.path.startsWith(collection)) return refusal(404, 'NotFound')
    if (asked.method === 'POST') return this.#create(asked)
    if (name === undefined || name === '') return { json: this.#list(asked) }
    const item = this.items.get(name)
    if (item === undefined) return refusal(404, 'NotFound')
    return asked.method === 'GET' ? { json: item } : this.#replace(asked, item, part ?? '')
  }

  #create({ body, user }: Asked): TestAnswer {
    const manifest = z.looseObject({ spec: z.looseObject({}) }).parse(body)
    const groups = user.startsWith('system:node:') ? ['system:nodes', 'system:authenticated'] : []
    const spec = { ...manifest.spec, username: user, groups }
    const item = signingRequestKind.schema.parse({ ...manifest, spec })
    if (this.items.has(item.metadata.name)) return refusal(409, 'AlreadyExists')
    const { metadata } = item
    return this.put({ ...item, metadata: { ...metadata, creationTimestamp: new Date().toISOString() } })
  }

  #list({ query }: Asked): object {
    const signer = (query.get('fieldSelector') ?? '').replace('spec.signerName=', '')
    const items = [...this.items.values()].filter(({ spec }) => spec['signerName'] === signer)
    return { metadata: { resourceVersion: String(this.#version) }, items }
  }

  /** Only agents of control planes may answer, and only who has seen the newest. */
  #replace({ body, user }: Asked, former: SigningRequest, part: string): TestAnswer {
    const next = signingRequestKind.schema.parse(body)
    if (user !== 'hyperkube:agent') return refusal(403, 'Forbidden')
    if (next.metadata.resourceVersion !== former.metadata.resourceVersion) return refusal(409, 'Conflict')
    const { conditions } = next.status
    if (part === 'approval') return this.put({ ...former, status: { ...former.status, conditions } })
    return part === 'status' ? this.put({ ...former, status: next.status }) : refusal(405, 'MethodNotAllowed')
  }

  put(item: SigningRequest): TestAnswer {
    const { metadata } = item
    const kept = { ...item, metadata: { ...metadata, resourceVersion: String(++this.#version) } }
    this.items.set(metadata.name, kept)
    return { json: kept }
  }
}

function refusal(status: number, reason: string): TestAnswer {
  return { status, json: { kind: 'Status', reason, message: reason } }
}
