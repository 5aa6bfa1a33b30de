import { z } from 'zod'
import type { RenewableCertificate } from '../../../contract/host-resource.ts'
import type { ReceivedRequest, TestResponse } from '../../../kit/testing/https-test-server.ts'
import { hostKind } from '../../../kube/host-resource.ts'
import { FakeKubeApi } from '../../../kube/testing/fake-kube-api.ts'
import { type RenewalSigningRequest, renewalSigningRequestKind } from '../signing-request.ts'

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const bodySchema = z.looseObject({ spec: z.looseObject({}) })

/**
 * Signing requests in a fake API. The API adds the user to new requests. Only agents of control planes may
 * change requests.
 */
export class SigningRequests {
  readonly api = new FakeKubeApi({ now: () => new Date() })

  constructor() {
    this.api.onRequest = (request, serve) => {
      if (request.method === 'POST') return serve(addUser(request))
      return request.method === 'PUT' ? refuseReplacement(request) : undefined
    }
  }

  get items(): RenewalSigningRequest[] {
    return this.api.all(collection).map((item) => renewalSigningRequestKind.schema.parse(item))
  }

  clear(): void {
    for (const { metadata } of this.items) this.api.remove(`${collection}/${metadata.name}`)
  }

  /** Stores the Host object that an operator writes for a planned host. */
  putHost(name: string, planned: readonly RenewableCertificate[]): void {
    const { apiVersion, kind } = hostKind
    const certificates = planned.map(({ ca, subject }) => ({ ca, subject }))
    this.api.put(formatHostPath(name), { apiVersion, kind, metadata: { name }, spec: { certificates } })
  }

  removeHost(name: string): void {
    this.api.remove(formatHostPath(name))
  }

  store(item: RenewalSigningRequest): void {
    this.api.put(`${collection}/${item.metadata.name}`, item)
  }
}

function formatHostPath(name: string): string {
  return `/apis/hyperkube.dev/v1/hosts/${name}`
}

/** Adds the user of the connection, as the API server does. */
function addUser(request: ReceivedRequest): ReceivedRequest {
  const { user } = request
  const body = bodySchema.parse(request.body)
  const groups = user.startsWith('system:node:') ? ['system:nodes', 'system:authenticated'] : []
  return { ...request, body: { ...body, spec: { ...body.spec, username: user, groups } } }
}

/**
 * Refuses a replacement unless the agent of a control plane replaces the approval or the status of a request.
 */
function refuseReplacement({ user, path }: ReceivedRequest): TestResponse | undefined {
  if (user !== 'hyperkube:agent') return buildRefusal(403, 'Forbidden')
  return /\/(?:approval|status)$/.test(path) ? undefined : buildRefusal(405, 'MethodNotAllowed')
}

function buildRefusal(status: number, reason: string): TestResponse {
  return { status, json: { kind: 'Status', reason, message: reason } }
}
